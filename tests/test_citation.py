"""Does the citation name what is there?"""

from pathlib import Path

import yaml

from accelsim.version import VERSION

ROOT = Path(__file__).resolve().parent.parent


def test_the_citation_has_the_version_and_the_licence() -> None:
    told = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert told["version"] == VERSION
    assert f'license = "{told["license"]}"' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert told["cff-version"] == "1.2.0"
    assert told["title"] == "accelsim"
    assert told["message"]
    assert told["authors"]
