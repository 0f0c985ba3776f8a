"""``envdoctor mcp`` over stdio, asked by the client of the official SDK."""

import importlib.util
import json
import sys

import pytest
from conftest import environment, run, run_envdoctor
from packaging.version import Version

CLIENT = """
import asyncio, json, sys
from mcp import ClientSession, StdioServerParameters, stdio_client

async def main():
    server = StdioServerParameters(command=sys.argv[1], args=["mcp"], env=json.loads(sys.argv[2]))
    async with stdio_client(server) as streams, ClientSession(*streams) as session:
        await session.initialize()
        tools = (await session.list_tools()).tools
        answers = [await session.call_tool(name, words) for name, words in json.load(sys.stdin)]
    json.dump([[one.model_dump(by_alias=True) for one in [*tools, *answers]], len(tools)], sys.stdout)

asyncio.run(main())
"""
TRACEBACK = """\
Traceback (most recent call last):
  File "train.py", line 1, in <module>
    import cloudpickle
  File "/x/lib/python3.11/site-packages/cloudpickle/cloudpickle_fast.py", line 545, in _code_reduce
    args = (obj.co_argcount,
TypeError: code() argument 13 must be str, not int
"""


@pytest.fixture(scope="module")
def agent(shared, wheel):
    """An environment with envdoctor, the SDK and something that is broken there."""

    def build(folder):
        assert run("uv", "venv", "--quiet", "--python", sys.executable, folder).returncode == 0
        words = (f"pyenvdoctor[mcp] @ file://{wheel}", "cloudpickle==1.6.0")
        done = run("uv", "pip", "install", "--quiet", "--python", folder, *words)
        assert done.returncode == 0, done.stderr

    return shared("agent", build)


@pytest.fixture(scope="module")
def asked(agent, tmp_path_factory):
    """What the tools are, and what a session of six calls answers."""
    project = tmp_path_factory.mktemp("project")
    (project / "requirements.txt").write_text("cloudpickle\n")
    here = {"python": str(agent)}
    questions = [
        ("check", here),
        ("explain", {"text": TRACEBACK, **here}),
        ("plan", {**here, "project": str(project)}),
        ("rule", {"id": "cloudpickle-bytecode-py311"}),
        ("rule", {"id": "cloudpickle-bytecode"}),
        ("check", {"requirements": str(project / "requirements.txt"), "python_version": "3.11"}),
    ]
    words = (agent / "bin" / "python", "-c", CLIENT, agent / "bin" / "envdoctor", json.dumps(environment()))
    before = run("uv", "pip", "freeze", "--python", agent).stdout
    done = run(*words, input=json.dumps(questions), cwd=project, env=environment())
    assert done.returncode == 0, done.stderr
    assert run("uv", "pip", "freeze", "--python", agent).stdout == before
    everything, number = json.loads(done.stdout)
    return everything[:number], everything[number:]


@pytest.mark.heavy
def test_the_tools_only_read_and_say_what_they_take(asked):
    tools, _ = asked
    assert [one["name"] for one in tools] == ["check", "explain", "plan", "rule"]
    assert all(one["annotations"]["readOnlyHint"] and one["description"] for one in tools)
    assert tools[1]["inputSchema"]["required"] == ["text"]


@pytest.mark.heavy
def test_answers_are_small_and_structured(asked):
    _, answers = asked
    check, explain, plan, rule, _, lock = (one["structuredContent"] for one in answers)
    found = {one["rule"]: one for one in check["findings"]}["cloudpickle-bytecode-py311"]
    assert "cloudpickle 1.6.0" in " ".join(found["evidence"])
    assert "cloudpickle>=2.1" in found["fixes"][0]["command"]
    assert explain["findings"][0]["rule"] == "cloudpickle-bytecode-py311"
    assert explain["findings"][0]["matched"] == "confirmed by the environment"
    (move,) = [one for one in plan["moves"] if one["package"] == "cloudpickle"]
    assert move["from"] == "1.6.0"
    assert Version(move["to"]) >= Version("2.1")
    assert move["why"]
    assert "cloudpickle" in plan["command"]
    assert rule["id"] == "cloudpickle-bytecode-py311"
    assert lock["findings"] == []
    assert "cloudpickle" in " ".join(lock["not_examined"])
    assert all(len(json.dumps(one["structuredContent"])) < 8_000 for one in answers)


@pytest.mark.heavy
def test_a_mistake_tells_the_agent_what_to_do(asked):
    _, answers = asked
    assert [one["isError"] for one in answers] == [False, False, False, False, True, False]
    assert "did you mean cloudpickle-bytecode-py311?" in answers[4]["content"][0]["text"]


def test_without_the_sdk_it_is_said_how_to_get_it():
    if importlib.util.find_spec("mcp"):
        pytest.skip("the SDK is installed beside these tests")
    done = run_envdoctor("mcp")
    assert done.returncode == 2
    assert "pip install 'pyenvdoctor[mcp]'" in done.stderr
