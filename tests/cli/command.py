"""The command line, run in this process as the installed script runs it."""

import contextlib
import io
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from accelsim.cli.main import main
from accelsim.kernels import jit

jit.compile_all()  # here, so that no command of a test has to say that it does


@dataclass(frozen=True)
class Ended:
    """How a command ended and what it printed."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def call(*arguments: str) -> Ended:
    """Run it whatever comes of it; anything but an exit is a failure of the test."""
    out, err = io.StringIO(), io.StringIO()
    with (arguments_are(*arguments), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err),
          pytest.raises(SystemExit) as ended):
        main()
    code = ended.value.code
    assert isinstance(code, int), code
    return Ended(code, out.getvalue(), err.getvalue())


@contextlib.contextmanager
def arguments_are(*arguments: str) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["accelsim", *arguments])
        yield


def accelsim(*arguments: str, code: int = 0) -> Ended:
    """Run it; it must end with that code, say why on stderr if that is not 0, and never show a traceback."""
    ended = call(*arguments)
    assert ended.code == code, ended.out + ended.err
    assert "Traceback" not in ended.out + ended.err, ended.err
    assert (code == 0) == (not ended.err), ended.err
    return ended
