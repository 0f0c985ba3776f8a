"""Which of the addresses that rules cite lead nowhere: each is asked for once, and the answer remembered."""

from __future__ import annotations

import hashlib
import os
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

from envdoctor.probes import cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

#: Seconds that one address may take.
SECONDS = 10
_WORKERS = 8
_GONE = (404, 410)


def gone(urls: Iterable[str], *, offline: bool = False) -> set[str]:
    """Those of some addresses where nothing is. Who does not answer once is not asked again in this run."""
    silent: set[str] = set()

    def status(url: str) -> int | None:
        host = urlsplit(url).netloc
        known: int | None = cache.remembered(_place(url), shape=int)
        if known is not None or offline or host in silent:
            return known
        answer = _ask(url)
        if answer is None:
            silent.add(host)
        else:
            cache.remember(_place(url), answer)
        return answer

    wanted = sorted(set(urls))
    with ThreadPoolExecutor(_WORKERS) as pool:
        return {url for url, answer in zip(wanted, pool.map(status, wanted)) if answer in _GONE}


def _ask(url: str) -> int | None:
    """The status that a server answers with; ``None`` where none answers, or one refuses to say."""
    request = urllib.request.Request(url, method="HEAD", headers={"User-Agent": "envdoctor"})  # noqa: S310 - http(s)
    try:
        with urllib.request.urlopen(request, timeout=SECONDS) as answer:  # noqa: S310
            return int(answer.status)
    except urllib.error.HTTPError as error:
        error.close()
        return error.code
    except (OSError, ValueError):
        return None


def _place(url: str) -> str:
    return os.path.join(cache.directory(), "references", hashlib.sha256(url.encode()).hexdigest()[:32] + ".json")
