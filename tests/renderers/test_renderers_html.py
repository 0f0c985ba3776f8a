"""The page of a report: in a real browser, at the width of a telephone and of a screen, on paper, and by the keyboard."""

import re
from html.parser import HTMLParser

import pytest
from browser import CONTRAST, browser  # noqa: F401 - a fixture
from conftest import run_envdoctor
from golden import samples
from hypothesis import given
from hypothesis import strategies as st
from images import Image

from envdoctor.model import Distribution, Evidence, Group, Remedy, Report, Snapshot, UnknownFact
from envdoctor.renderers import html

SICK = "flask==1.1.2\nwerkzeug==3.0.1\njinja2==2.11.3\nmarkupsafe==1.1.1\ncloudpickle==1.6.0\n"
HOSTILE = [
    "</style><script>window.stolen = 1</script>", "<img src=x onerror=window.stolen=1>", '" onclick="window.stolen=1',
    "javascript:window.stolen=1", "https://x.invalid/\"'><script>window.stolen=1</script>", "</details></main></body>",
    "\u202egnp.exe", "\x1b[31m\x00\ud800", "&lt;b&gt;&amp;", "]]><!-- ", "`<b>`",
]  # fmt: skip


class Outline(HTMLParser):
    """The elements of a page in order, its texts, and whether each element is closed where it should be."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.texts, self.open = [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, *sorted(name for name, _ in attrs)))
        if tag not in {"meta", "br"}:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


def about(text):
    """A report in which everything that comes from an environment or a text is this one."""
    finding = samples.PICKLE.replace(
        title=text, why=text, packages=[text], matched=[text], references=[text], consumer=text,
        evidence=[Evidence(fact=f"packages.{text}", value=text, source=text or "-")],
        remedies=[Remedy(kind="upgrade", requirement=text, command=text or None, effect=text), Remedy(kind="change", text=text, safety="manual")],
    )  # fmt: skip
    snapshot = Snapshot(
        target={"kind": text, "path": text, "chosen": text, "installer": text, "left_out": [{"path": text, "reason": text}]},
        python={"version": text, "executable": text}, platform={"system": text},
        packages={text: Distribution(name=text, version=text)},
        notes=[UnknownFact(rule=None, fact=text, reason=text)],
    )  # fmt: skip
    group = Group(title=text, findings=[finding], remedies=finding.remedies)
    return Report(
        snapshot=snapshot,
        findings=[finding],
        groups=[group],
        ruled_out=[finding],
        understood={"message": text},
        rules=1,
    )


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    (folder / "requirements.txt").write_text(SICK)
    words = ("check", "-r", "requirements.txt", "--python-version", "3.11", "-f", "html", "-o", "page.html")
    done = run_envdoctor(*words, cwd=folder)
    assert (done.returncode, done.stdout) == (1, ""), done.stderr
    return folder / "page.html"


def test_a_page_is_golden():
    for name in ("check", "explain"):
        text = html.render(getattr(samples, name.upper()))
        samples.same(
            f"{name}.html", re.sub(r"(?s)<style>.*?</style>", "", re.sub(r"envdoctor \d[\w.]*", "envdoctor", text))
        )


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_in_an_environment_begins_an_element(text):
    harmless = Outline(html.render(about("harmless `code`" if "`" in text else "harmless")))
    hostile = Outline(html.render(about(text)))
    links = [tag for tag in hostile.tags if tag[0] == "a"]
    assert len(links) == text.startswith("https://")
    assert [tag for tag in hostile.tags if tag[0] not in {"a", "code"}] == [
        tag for tag in harmless.tags if tag[0] not in {"a", "code"}
    ]
    assert all(name in {"class", "href", "rel"} for tag in links for name in tag[1:])


@given(text=st.text(max_size=40))
def test_whatever_a_report_says_is_a_page(text):
    page = html.render(about(text))
    Outline(page)
    page.encode()
    assert not re.search(r"[\x00-\x08\x0b-\x1f\u202a-\u202e]", page)


def test_nothing_in_an_environment_runs(browser, tmp_path):  # noqa: F811
    for number, text in enumerate(HOSTILE):
        path = tmp_path / f"{number}.html"
        path.write_text(html.render(about(text)), encoding="utf-8")
        browser.requests.clear()
        browser.open(path.as_uri())
        browser.value("document.querySelectorAll('details').forEach(one => one.open = true)")
        assert browser.value("window.stolen === undefined")
        assert browser.requests == [path.as_uri()]
        assert browser.messages == []


def test_nothing_in_an_image_runs(browser, tmp_path):  # noqa: F811
    script = "<script>window.stolen = 1</script>"
    image = Image(tmp_path / f"<img src=x onerror='window.stolen = 1'>{script.replace('/', '&#47;')}")
    image.python("/usr/local", "3.9.18")
    site = "/usr/local/lib/python3.9/site-packages"
    for name, version in (line.split("==") for line in SICK.splitlines()):
        image.distribution(site, name, version)
    image.file(f"{site}/odd-1.0.dist-info/METADATA", f"Name: odd\nVersion: 1.0{script}\nRequires-Dist: {script}\n")
    image.file(f"{site}/name-1.0.dist-info/METADATA", f"Name: {script}\nVersion: 1.0\n")
    done = run_envdoctor("check", "--root", image, "-f", "html", "-o", tmp_path / "page.html")
    assert done.returncode == 1, done.stderr
    browser.requests.clear()
    browser.open((tmp_path / "page.html").as_uri())
    browser.value("document.querySelectorAll('details').forEach(one => one.open = true)")
    assert browser.value("window.stolen === undefined && !document.querySelector('script, img')")
    assert "<img src=x" in browser.value("document.body.innerText")
    assert browser.requests == [(tmp_path / "page.html").as_uri()]


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_and_is_legible(width, scheme, browser, page, tmp_path):  # noqa: F811
    browser.media(scheme=scheme)
    browser.requests.clear()
    browser.open(page.as_uri(), width)
    assert "2 errors" in browser.value("document.querySelector('h1').innerText")
    browser.value("document.querySelectorAll('details').forEach(one => one.open = true)")
    assert browser.value("document.documentElement.scrollWidth") <= width
    contrast, text = browser.value(CONTRAST)
    assert contrast >= 4.5, text
    dark = browser.value("getComputedStyle(document.querySelector('main')).backgroundColor") == "rgb(22, 25, 28)"
    assert dark is (scheme == "dark")
    browser.picture(tmp_path / "page.png")
    assert (tmp_path / "page.png").stat().st_size > 10_000
    assert browser.messages == []
    assert browser.requests == [page.as_uri()]


def test_the_keyboard_unfolds(browser, page):  # noqa: F811
    browser.media()
    browser.open(page.as_uri())
    folded = "[...document.querySelectorAll('article details')].map(one => one.open)"
    assert browser.value(folded)[:2] == [True, False]
    while not browser.value("document.activeElement.parentElement === document.querySelectorAll('article details')[1]"):
        browser.press("Tab", 9)
        assert browser.value("document.activeElement !== document.body"), "the focus came to the end of the page"
    assert browser.value("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    browser.press("Enter", 13)
    assert browser.value(folded)[:2] == [True, True]


def test_paper_has_what_is_folded(browser, page):  # noqa: F811
    browser.open(page.as_uri())
    part = "document.querySelectorAll('article details')[1]"
    shown, height = f"{part}.querySelector('table').checkVisibility()", f"{part}.clientHeight"
    browser.media(scheme="dark")
    assert not browser.value(shown)
    before = browser.value(height)
    browser.media("print", "dark")
    assert browser.value(shown)
    assert browser.value(height) > before + 20
    assert browser.value("getComputedStyle(document.querySelector('main')).backgroundColor") == "rgb(255, 255, 255)"
    browser.media()


def test_several_environments_are_one_page(tmp_path):
    files = ("requirements-a.txt", "requirements-b.txt")
    for name, text in zip(files, (SICK, "packaging==24.0\n")):
        (tmp_path / name).write_text(text)
    outline = Outline(run_envdoctor("check", *files, "--python-version", "3.11", "-f", "html", cwd=tmp_path).stdout)
    assert [tag for tag, *_ in outline.tags].count("html") == 1
    assert f"2 environments in {', '.join(files)}: 2 errors, 1 info" in outline.texts
    assert {*files} <= {*outline.texts}


def test_what_is_shown_elsewhere_has_no_secrets():
    address = "https://ada:pa55word@index.example/simple"
    evidence = [Evidence(fact="env.PIP_INDEX_URL", value=address, source="the environment")]
    finding = samples.GYM.replace(evidence=evidence, title=address)
    text = html.fragment(samples.CHECK.replace(findings=[finding]))
    assert text.startswith('<div class="envdoctor">')
    assert samples.CHECK._repr_html_() == html.fragment(samples.CHECK)
    assert "index.example" in text
    assert "pa55word" not in text
