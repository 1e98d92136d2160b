"""What is left out is told with its place."""

from accelsim.importers.imported import Left


def test_a_place_in_a_file_is_told_by_line_and_column() -> None:
    assert str(Left("chip.cfg", 3, 7, "general.x", "is not simulated")) == "chip.cfg:3:7: general.x: is not simulated"


def test_a_whole_file_has_no_line() -> None:
    assert str(Left("chip.cfg", 0, 0, "", "has no energies")) == "chip.cfg: has no energies"
