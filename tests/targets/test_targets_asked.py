"""What was installed from elsewhere than an index is installed again from there."""

import json

import pytest

from envdoctor.model import Distribution, Snapshot
from envdoctor.targets.asked import from_elsewhere

URL = "file:///work/left"
VCS = {"vcs": "git", "commit_id": "c0ec"}


@pytest.mark.parametrize(
    ("noted", "words"),
    [
        ({"url": URL, "dir_info": {"editable": True}}, ["-e", URL]),
        ({"url": URL, "dir_info": {}}, [f"left @ {URL}"]),
        ({"url": f"{URL}.whl", "archive_info": {}}, [f"left @ {URL}.whl"]),
        ({"url": "https://example.org/left", "vcs_info": VCS}, ["left @ git+https://example.org/left@c0ec"]),
        ({"url": URL, "vcs_info": VCS, "subdirectory": "in"}, [f"left @ git+{URL}@c0ec#subdirectory=in"]),
        ({"url": "--index-url=https://example.org", "dir_info": {"editable": True}}, []),
        ({"url": URL, "vcs_info": "git"}, []),
        ({"url": None}, []),
        ([], []),
    ],
)
def test_the_words_for_what_an_installer_has_noted(noted, words, tmp_path):
    (tmp_path / "direct_url.json").write_text(json.dumps(noted))
    packages = {
        "left": Distribution(name="left", version="1", path=str(tmp_path)),
        "right": Distribution(name="right", version="1", path=str(tmp_path / "none")),
    }

    assert from_elsewhere(Snapshot(target={}, python={}, packages=packages)) == {"left": words}
