"""Are failures said so that the reader can act on them?"""

import pickle

import pytest

from accelsim.errors import (
    AccelsimError,
    DoesNotFit,
    Fault,
    LimitExceeded,
    SimulatorBug,
    SpecError,
    did_you_mean,
    nearest,
)

FAULT = Fault("chip.yaml", 12, 7, "levels.DRAM.bandwith", "unknown key 'bandwith'", "bandwidth, latency", "bandwidth")


def test_a_fault_reads_as_one_line() -> None:
    assert str(FAULT) == (
        "chip.yaml:12:7: levels.DRAM.bandwith: unknown key 'bandwith'; allowed: bandwidth, latency; "
        "did you mean 'bandwidth'?"
    )
    assert str(Fault("a.yaml", 0, 0, "", "empty")) == "a.yaml: empty"
    assert str(Fault("a.yaml", 3, 0, "x", "bad")) == "a.yaml:3: x: bad"


@pytest.mark.parametrize(("kind", "code"), [(SpecError, 2), (DoesNotFit, 3)])
def test_faults_are_all_told(kind: type[SpecError] | type[DoesNotFit], code: int) -> None:
    other = Fault("chip.yaml", 13, 1, "clock", "missing")
    error = kind(iter([FAULT, other]))
    assert error.faults == (FAULT, other)
    assert str(error).splitlines() == [str(FAULT), str(other)]
    assert error.exit_code == code
    assert isinstance(error, AccelsimError)
    assert pickle.loads(pickle.dumps(error)).faults == error.faults
    with pytest.raises(ValueError, match="without a fault"):
        kind([])


def test_other_exit_codes() -> None:
    assert LimitExceeded("too large").exit_code == 4
    assert str(LimitExceeded("too large")) == "too large"
    bug = pickle.loads(pickle.dumps(SimulatorBug("bytes lost")))
    assert bug.exit_code == 70
    assert str(bug) == "bytes lost; this is a bug of accelsim, please report it"


@pytest.mark.parametrize(
    ("word", "expected"),
    [("bandwith", "bandwidth"), ("Ouptus", "outputs"), ("LATENCY", "latency"), ("zzz", ""), ("", ""), ("x" * 999, "")],
)
def test_nearest_word(word: str, expected: str) -> None:
    known = ["bandwidth", "latency", "outputs"]
    assert nearest(word, known) == expected
    assert did_you_mean(word, known) == (f"did you mean '{expected}'?" if expected else "")


def test_the_same_word_is_nearest_to_itself() -> None:
    assert nearest("kb", ["KB", "kb"]) == "kb"
