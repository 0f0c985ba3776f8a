import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envdoctor.renderers.redaction import Redactor

LONG = string.ascii_letters + string.digits


def redactor(**options):
    return Redactor(**{"home": "/home/ada", "user": "ada", "host": "gpu01.example.org", **options})


SECRETS = [
    "ghp_" + "aB3" * 12,
    "gho_" + "aB3" * 12,
    "github_pat_" + "aB3_" * 12,
    "glpat-" + "aB3-" * 5,
    "AKIA" + "ABCDEFGH01234567",
    "hf_" + "aB3" * 11,
    "sk-" + "aB3" * 16,
    "sk-proj-" + "aB3_-" * 12,
    "pypi-AgEIcHlwaS5vcmc" + "aB3" * 20,
    "xoxb-123456789012-abcdefghij",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIEabc+/=\n-----END RSA PRIVATE KEY-----",
    "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNz",
    "AIza" + "aB3-_" * 7,
]
SETTINGS = st.sampled_from(["", "'", '"', " ", "=", ": ", "/", "\n", ",", "(", "x "])


@pytest.mark.parametrize("secret", SECRETS)
@given(before=SETTINGS, after=SETTINGS)
@settings(max_examples=20)
def test_no_token_survives(secret, before, after):
    hidden = redactor().text(f"text {before}{secret}{after} text")
    assert secret not in hidden
    assert "<redacted>" in hidden


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("https://ada:s3cret@pypi.corp.org/simple", "https://<redacted>@pypi.corp.org/simple"),
        ("https://token@pypi.corp.org/simple", "https://<redacted>@pypi.corp.org/simple"),
        ("https://a:p@ss@pypi.corp.org/", "https://<redacted>@pypi.corp.org/"),
        ("https://a:pa/ss@pypi.corp.org/", "https://<redacted>@pypi.corp.org/"),
        ("git+ssh://git@github.com/o/n.git@v1.0", "git+ssh://git@github.com/o/n.git@v1.0"),
        ("git+ssh://bob:pw@host.org/n.git", "git+ssh://<redacted>@host.org/n.git"),
        ("git@github.com:o/n.git", "git@github.com:o/n.git"),
        ("https://h.org/f?token=abc&x=1", "https://h.org/f?token=<redacted>&x=1"),
        (
            "https://h.org/f?x=1&X-Amz-Signature=abc#sha256=00ff",
            "https://h.org/f?x=1&X-Amz-Signature=<redacted>#sha256=00ff",
        ),
        ("https://h.org/f?sig=abc;key=def", "https://h.org/f?sig=<redacted>;key=<redacted>"),
        ("write to bob.smith+x@mail.example.org.", "write to <e-mail>."),
        ("WANDB_API_KEY=0123abc", "WANDB_API_KEY=<redacted>"),
        ("export DB_PASSWORD='x y'", "export DB_PASSWORD='<redacted> y'"),
        ('{"client_secret": "abc"}', '{"client_secret": "<redacted>"}'),
        ("aws_secret_access_key = wJalr/XUt+nFEMI", "aws_secret_access_key = <redacted>"),
        ("pip --token abc install", "pip --token <redacted> install"),
        ("Authorization: Bearer abcdef", "Authorization: Bearer <redacted>"),
        ("authorization: basic YWRhOnB3", "authorization: basic <redacted>"),
        ("token=$TOKEN", "token=$TOKEN"),
        ("/home/ada/x", "~/x"),
        ("/home/ada", "~"),
        ("file:///home/ada/x.whl", "file://~/x.whl"),
        ("/home/adam/x", "/home/<user>/x"),
        ("/Users/bob/x C:\\Users\\bob\\x", "/Users/<user>/x C:\\Users\\<user>\\x"),
        ("/data/ada/x", "/data/<user>/x"),
        ("ada on gpu01 and gpu01.example.org", "<user> on <host> and <host>"),
        ("GPU01.cluster.local:8080", "<host>:8080"),
        ("ada@gpu01", "<user>@<host>"),
        ("canada adaptive ada-lovelace ada.py data", "canada adaptive ada-lovelace ada.py data"),
    ],
)
def test_what_is_replaced(text, hidden):
    assert redactor().text(text) == hidden


@pytest.mark.parametrize(
    "text",
    [
        "cloudpickle 1.6.0 in /usr/lib/python3/dist-packages/cloudpickle-1.6.0.dist-info",
        "3.11.7 (main, Jan  1 2024, 00:00:00) [GCC 12.2.0]",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "--hash=sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "token==1.0 secret>=2,<3 password~=1.0; python_version < '3.9'",
        "tool @ git+https://github.com/o/n.git@0123456789abcdef0123456789abcdef01234567",
        "SyntaxError: unexpected token: x",
        "torch==2.1.0+cu118 numpy 1!2.0rc1.post3.dev4 TOKENIZERS_PARALLELISM=false",
        "pip install 'cloudpickle>=2.1' --index-url https://download.pytorch.org/whl/cu118",
        "scikit-learn-extra-something-very-long-indeed task-scheduling-with-a-long-name sk-learn-contrib-a-long-name",
        "/opt/conda/envs/train/lib/python3.11/site-packages C:\\Python311\\Lib http://localhost:8080/x@1.0",
        "pypi-attestations==0.0.1",
        "/home/runner/work /home/user/x",
    ],
)
def test_plain_text_is_untouched(text):
    quiet = redactor()
    assert quiet.text(text) == text
    assert quiet.count == 0


@pytest.mark.parametrize("name", ["ab", "root", "user", "runner", "Users", ""])
def test_generic_names_are_words(name):
    text = f"the {name} of it in /srv/{name}/x"
    assert Redactor(home="", user=name, host=name).text(text) == text


@pytest.mark.parametrize("home", ["", "/", "C:\\"])
def test_a_root_is_no_home(home):
    assert Redactor(home=home).text("/usr/lib C:\\Windows") == "/usr/lib C:\\Windows"


def test_a_home_on_windows():
    hidden = Redactor(home="C:\\Users\\Ada").text("c:/users/ada/x C:\\Users\\Ada\\x C:\\\\Users\\\\Ada\\\\x")
    assert hidden == "~/x ~\\x ~\\\\x"


PIECES = st.sampled_from(
    [*SECRETS, "ada", "gpu01", "/home/ada", "/home/bob", "a:b@c.org", "https://", "git@", "@", "?key=", "token=", "token: ", ":",
     "=", "/", "'", '"', " ", "<", ">", "~", "<user>", "<redacted>", "-", ".", "_", "sk-", "Authorization: ", "--password ", "\\", "&"]
)  # fmt: skip


@given(st.text() | st.lists(PIECES | st.text(max_size=4)).map("".join))
def test_redacting_twice_changes_nothing(text):
    once = redactor().text(text)
    again = redactor()
    assert again.text(once) == once
    assert again.count == 0


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | PIECES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8) | PIECES, inner, max_size=4),
)


@given(JSON)
def test_data_keeps_its_shape(value):
    once = redactor().data(value)
    assert redactor().data(once) == once

    def shape(item):
        if isinstance(item, dict):
            return sorted(map(repr, map(shape, item.values())))
        return [shape(inner) for inner in item] if isinstance(item, list) else type(item)

    assert shape(once) == shape(value)


def test_data_by_the_names_of_its_keys():
    quiet = redactor(known_env={"USE_TF", "HF_TOKEN"})
    document = {
        "env": {"USE_TF": "0", "HF_TOKEN": "plain", "OTHER": "value", "UNSET": None},
        "password": "x",
        "packages": {"token": "1.0", "ada": "2.0+ada"},
        "direct_url": {"url": "https://x:y@h.org/a.git", "vcs_info": {"commit_id": "00ff"}},
        "paths": ["/home/ada/x"],
        "/home/ada/key": 1,
        "~/key": 2,
    }
    assert quiet.data(document) == {
        "env": {"USE_TF": "0", "HF_TOKEN": "<redacted>", "OTHER": "<redacted>", "UNSET": None},
        "password": "<redacted>",
        "packages": {"token": "1.0", "ada": "2.0+ada"},
        "direct_url": {"url": "https://<redacted>@h.org/a.git", "vcs_info": {"commit_id": "00ff"}},
        "paths": ["~/x"],
        "~/key": 1,
        "~/key'": 2,
    }
    assert quiet.count == 6


def test_this_user_is_hidden(monkeypatch):
    monkeypatch.setenv("HOME", "/home/grace")
    monkeypatch.setenv("LOGNAME", "grace")
    assert Redactor.of_this_user().text("/srv/grace in /home/grace/x") in ("/srv/<user> in ~/x", "/srv/grace in ~/x")


@pytest.mark.trials
@pytest.mark.parametrize(
    "piece",
    ["a", "A", "a.", "a@", "://", "://a:", "a://", "?a", "&token", "token", "eyJ", "eyJ-", "eyJa.", "ya29.", "aB3/", "-----BEGIN ", "sk-", "sk-a", " ",
     "a=", "a: ", "/home/", "/", "\\", "ada.", "gpu01.", "gpu01", "--a ", "xoxb-", "authorization: ", "Bearer ", "a@a.", '"', "%"],
)  # fmt: skip
def test_work_grows_with_the_length_only(piece):
    """An expression that looks back over the text for every letter would not end here."""
    text = (piece * 100_000)[:100_000]
    quiet = redactor()
    quiet.text(text)
    quiet.text(text + "!")


def test_a_home_is_matched_in_its_own_case_except_on_windows():
    assert redactor(home="/srv/it", user="").text("/srv/it/x /SRV/IT/x") == "~/x /SRV/IT/x"
    assert redactor(home="C:\\Data\\Ada", user="").text("c:\\data\\ada\\x") == "~\\x"


@pytest.mark.parametrize(("home", "hidden"), [("/r", "~/x"), ("/", "/r/x"), ("", "/r/x"), ("C:\\", "/r/x")])
def test_a_home_of_one_letter_is_one_and_the_root_is_none(home, hidden):
    assert redactor(home=home).text("/r/x") == hidden


def test_the_key_of_putty_is_hidden_to_its_end():
    key = "PuTTY-User-Key-File-2: ssh-rsa\nEncryption: none\nPrivate-Lines: 1\nAAAAB3\n"
    assert redactor().text(f"said\n{key}") == "said\n<redacted>"


def test_versions_of_packages_stay_as_they_are():
    data = {"packages": {"lib": "1!2024", "other": "ghp_" + "aB3" * 12}, "other": "1!2024"}
    assert redactor(user="2024").data(data) == {
        "packages": {"lib": "1!2024", "other": "<redacted>"},
        "other": "1!<user>",
    }
