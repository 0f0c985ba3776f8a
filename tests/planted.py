"""Secrets of many shapes, made up by a generator with a fixed seed, and how to find them again in a text."""

import random
import re
import string

_LOT = random.Random(1312)
_ALNUM, _HEX = string.ascii_letters + string.digits, "0123456789abcdef"
_URL = _ALNUM + "_-"


def _some(letters, number):
    return "".join(_LOT.choice(letters) for _ in range(number))


#: How the token of a service begins, with its letters and their number.
SHAPES = [
    ("ghp_", _ALNUM, 36), ("gho_", _ALNUM, 36), ("ghu_", _ALNUM, 36), ("ghs_", _ALNUM, 36), ("ghr_", _ALNUM, 36),
    ("github_pat_", _ALNUM + "_", 82), ("glpat-", _URL, 20), ("gldt-", _URL, 20), ("glrt-", _URL, 20), ("glptt-", _HEX, 40),
    ("glsoat-", _URL, 20), ("GR1348941", _URL, 20), ("glagent-", _URL, 50), ("gloas-", _URL, 64), ("glcbt-a1_", _URL, 20),
    ("AKIA", "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 16), ("ASIA", "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 16),
    ("hf_", string.ascii_letters, 34), ("api_org_", string.ascii_letters, 34), ("sk-ant-api03-", _URL, 93),
    ("sk-proj-", _URL, 74), ("sk-", _ALNUM, 48), ("pplx-", _ALNUM, 48), ("AIza", _URL, 35), ("ya29.", _URL, 60),
    ("GOCSPX-", _URL, 28), ("npm_", _ALNUM, 36), ("pypi-AgEIcHlwaS5vcmc", _URL, 90), ("pypi-AgENdGVzdC5weXBpLm9yZw", _URL, 90),
    ("xoxb-123456789012-", _ALNUM, 24), ("xoxp-123456789012-", _ALNUM, 30), ("xapp-1-A012-345-", _HEX, 40),
    ("https://hooks.slack.com/services/", _ALNUM + "/", 44), ("https://discord.com/api/webhooks/123456789012345678/", _URL, 68),
    ("sk_live_", _ALNUM, 24), ("rk_test_", _ALNUM, 24), ("whsec_", _ALNUM, 32), ("sq0csp-", _URL, 43), ("EAAA", _URL, 60),
    ("SG." + "aB3" * 7 + "x.", _URL, 43), ("key-", _HEX, 32), ("SK", _HEX, 32), ("AC", _HEX, 32), ("123456789:AA", _URL, 33),
    ("dop_v1_", _HEX, 64), ("dapi", _HEX, 32), ("hvs.", _URL, 95), ("dp.pt.", _ALNUM, 43), ("shpat_", _HEX, 32),
    ("lin_api_", _ALNUM, 40), ("ntn_", _ALNUM, 46), ("PMAK-", _HEX, 59), ("NRAK-", string.ascii_uppercase + string.digits, 27),
    ("glsa_", _ALNUM, 41), ("rubygems_", _HEX, 48), ("pul-", _HEX, 40), ("dckr_pat_", _URL, 32), ("pscale_pw_", _URL, 43),
    ("AGE-SECRET-KEY-1", "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58), ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIx.", _URL, 43),
    ("ATATT3", _URL, 186), ("LTAI", _ALNUM, 20), ("glc_", _ALNUM, 60), ("", _ALNUM, 40), ("", _URL, 64),
]  # fmt: skip
SECRETS = [(shape, shape + _some(letters, number)) for shape, letters, number in SHAPES]
#: Such as no shape gives away; they are secret by their place or their name.
WORDS = ["hunter2-" + _some(_ALNUM, 6) for _ in range(8)]
EVERY = [secret for _, secret in SECRETS] + WORDS


def leaked(text):
    """The secrets of which a part that nobody could guess is in a text; each part is long enough to be no accident."""
    text = re.sub(r"\\\\|\\(?=[_*\[\]<>~#|!$`])|&#\d+;", "", text)
    found = []
    for shape, secret in [*SECRETS, *(("", word) for word in WORDS)]:
        rest = secret[len(shape) :]
        width = min(10, len(rest))
        if any(rest[at : at + width] in text for at in range(0, len(rest) - width + 1, 2)):
            found.append(secret)
    return found
