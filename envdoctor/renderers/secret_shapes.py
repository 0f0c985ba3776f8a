"""What the tokens of well-known services look like: how they begin, their letters, and how long they are at least.

Sources of the facts: the configuration of gitleaks (https://github.com/gitleaks/gitleaks, ``config/gitleaks.toml``) and
the plugins of detect-secrets (https://github.com/Yelp/detect-secrets). Lengths are lower here than there where nothing
else begins like that, so that a token that was cut is known as well.
"""

from __future__ import annotations

import re

_LETTERS = {"hex": "a-fA-F0-9", "alnum": "A-Za-z0-9", "url": "A-Za-z0-9_-", "base64": "A-Za-z0-9+/=",
            "dotted": "A-Za-z0-9_.=-", "capital": "A-Z0-9"}  # fmt: skip

#: How tokens begin, the letters that follow, and how many of them at least.
_TABLE = (
    ("ghp_ gho_ ghu_ ghs_ ghr_ hf_ api_org_ pnu_ pnb_ r8_ gsk_ xai- pplx- tvly- ico- fo1_ key_live_", "alnum", 20),
    ("npm_ lin_api_ lin_oauth_ CLOJARS_ 4b1d AKCp cmVmd ntn_ secret_ r-api-", "alnum", 30),
    ("sk_live_ sk_test_ sk_prod_ rk_live_ rk_test_ rk_prod_ pk_live_ whsec_ LTAI", "alnum", 16),
    ("sm_aat_ sm_pat_ sm_sat_", "alnum", 16),
    ("EZAK EZTK EAAC EAAM", "alnum", 50),
    ("glpat- glptt- gldt- glrt- glcbt- glft- glffct- glimt- glagent- gloas- glsoat- GR1348941", "url", 16),
    ("github_pat_ sk-ant- sk-proj- sk-svcacct- sk-admin- sk-or- sq0atp- sq0csp- EAAA AIza ya29. dnkey-", "url", 20),
    ("duffel_live_ duffel_test_ HRKU-AA tk-us- shippo_live_ shippo_test_ sgp_ sntryu_ glsa_ PMAK- nvapi-", "url", 20),
    ("sl. GOCSPX- sha256~ fio-u- dckr_pat_ dckr_oat_ ATATT3 ATCTT3 ATBB", "url", 30),
    ("xoxa- xoxb- xoxe- xoxo- xoxp- xoxr- xoxs- xapp- xoxe.xoxb- xoxe.xoxp- FLWSECK_TEST- pypi-Ag", "url", 10),
    ("pypi-", "url", 32),
    ("hvs. hvb. hvr. dp.pt. dp.st. dp.ct. dp.sa. dt0c01. dt0s01. SG.", "dotted", 20),
    ("pscale_tkn_ pscale_oauth_ pscale_pw_", "dotted", 20),
    ("pat- pul- p8e- v1.0-", "dotted", 30),
    ("NRAK- NRII- NRJS-", "url", 16),
    ("glc_ ops_eyJ fm1a_ fm1r_ fm2_ ABSK sntrys_ bedrock-api-key-", "base64", 32),
    ("dapi doo_v1_ dop_v1_ dor_v1_ rdme_ rubygems_ xkeysib- shpat_ shpca_ shppa_ shpss_", "hex", 32),
    ("key- pubkey- SK AC phc_ phx_", "hex", 32),
    ("AKIA ASIA ABIA ACCA", "capital", 12),
    ("AGE-SECRET-KEY-1", "capital", 20),
    ("API-", "capital", 26),
)
#: Shapes that are more than a beginning and some letters.
_OTHERS = (
    r"(?<![_-])eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]*)?",  # a JSON web token
    r"[MNO][A-Za-z0-9_-]{23,25}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,38}",  # Discord
    r"[A-Za-z0-9_~.]{3}\dQ~[A-Za-z0-9_~.-]{31,34}",  # an application of Azure
    r"\d{8,10}:AA[A-Za-z0-9_-]{30,}",  # a bot of Telegram
    r"[0-9a-f]{32}-us\d{1,2}",  # Mailchimp
    r"A3-[A-Z0-9]{6}-[A-Z0-9-]{20,}",  # 1Password
    r"pat[A-Za-z0-9]{14}\.[a-f0-9]{64}",  # Airtable
    r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{40,}",  # Terraform
    r"[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk",  # MaxMind
    r"s-s4t2(?:ud|af)-[a-f0-9]{64}",  # 42
)
_WEBHOOKS = (
    r"hooks\.slack\.com/(?:services|workflows|triggers)/",
    r"discord(?:app)?\.com/api/webhooks/",
    r"[a-z0-9]{1,40}\.webhook\.office\.com/webhookb2/",
    r"outlook\.office\.com/webhook/",
    r"api\.telegram\.org/bot",
    r"api\.softlayer\.com/soap/v3(?:\.1)?/",
)
_KEY = r" ]{0,40}PRIVATE KEY(?: BLOCK)?-----"


def _rows() -> list[str]:
    return [
        f"(?:{'|'.join(map(re.escape, sorted(beginnings.split(), reverse=True)))})[{_LETTERS[letters]}]{{{least},}}"
        for beginnings, letters, least in _TABLE
    ]


#: A token, whatever is around it. What comes before it is no letter, unless a line end that is written out.
TOKEN = re.compile(rf"(?:(?<![A-Za-z0-9])|(?<=\\[nrt]))(?:{'|'.join([*_rows(), *_OTHERS])})")
#: The part of an address that lets anybody write to a channel.
WEBHOOK = re.compile(rf"((?:{'|'.join(_WEBHOOKS)}))([^\s\"'<>]+)")
#: A private key, also where its end was cut off, as is that of PuTTY.
KEY = re.compile(rf"-----BEGIN [A-Z0-9{_KEY}.*?(?:-----END [A-Z0-9{_KEY}|\Z)|PuTTY-User-Key-File-\d.*\Z", re.DOTALL)
#: A word that may be drawn by lot, see :func:`is_random`.
RANDOM = re.compile(r"[A-Za-z0-9+/_-]{32,}={0,2}")
#: How often letters of another kind follow each other in a word that nobody made up: 0.62 by chance, 0.3 in names.
_RESTLESS = 0.45


def is_random(word: str) -> bool:
    """Whether a long word looks drawn by lot: small and capital letters and digits in no order."""
    kinds = ["d" if one.isdigit() else "a" if one.islower() else "A" if one.isupper() else "-" for one in word]
    changes = sum(one != other for one, other in zip(kinds, kinds[1:]))
    digits = sum(one == "d" != other for one, other in zip(kinds, ["-", *kinds]))
    return {"a", "A", "d"} <= set(kinds) and digits > 1 and changes >= _RESTLESS * len(word)
