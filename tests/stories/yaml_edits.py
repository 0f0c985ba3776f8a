"""Story 1, second half: in what shapes people write the switch of DreamerV3 that an edit of ``configs.yaml`` turns.

The truth is what DreamerV3's own reader makes of the file, before and after the edit that is printed.
"""

import json
import re
import subprocess
import tempfile
import textwrap
from pathlib import Path

from judging import judged

#: By name, the files of a checkout's ``configs.yaml``; ``True`` is where the environments are run in processes.
DRIVER = {
    "block": "defaults:\n  seed: 0\n  run:\n    script: train\n    driver_parallel: True\n    num_envs: 16\n",
    "lower case": "defaults:\n  run:\n    driver_parallel: true\n",
    "upper case": "defaults:\n  run:\n    driver_parallel: TRUE\n",
    "with a comment": "defaults:\n  run:\n    driver_parallel: True  # or False\n    steps: 1\n",
    "with a comment that says the key": "defaults:\n  run:\n    steps: 1  # driver_parallel: True\n    driver_parallel: True\n",
    "indented by one": "defaults:\n run:\n  driver_parallel: True\n",
    "no space after": "defaults:\n  run:\n    driver_parallel:   True   \n",
    "space before the colon": "defaults:\n  run:\n    driver_parallel : True\n",
    "quoted key": 'defaults:\n  run:\n    "driver_parallel": True\n',
    "single quoted key": "defaults:\n  run:\n    'driver_parallel': True\n",
    "quoted value": 'defaults:\n  run:\n    driver_parallel: "True"\n',
    "single quoted value": "defaults:\n  run:\n    driver_parallel: 'True'\n",
    "one": "defaults:\n  run:\n    driver_parallel: 1\n",
    "tagged": "defaults:\n  run:\n    driver_parallel: !!bool true\n",
    "flow": "defaults:\n  run: {script: train, driver_parallel: True, num_envs: 16}\n",
    "flow, last": "defaults:\n  run: {script: train, driver_parallel: True}\n",
    "flow, alone": "defaults:\n  run: {driver_parallel: True}\n",
    "flow with another true before": "defaults:\n  run: {timer: True, driver_parallel: True, x: True}\n",
    "flow, a longer key before": "defaults:\n  run: {not_driver_parallel: True, driver_parallel: True}\n",
    "flow of everything": "{defaults: {run: {driver_parallel: True, num_envs: 4}}}\n",
    "flow over lines": "defaults:\n  run: {\n    script: train,\n    driver_parallel: True,\n    num_envs: 16,\n  }\n",
    "flow, value on the next line": "defaults:\n  run: {script: train, driver_parallel:\n    True}\n",
    "JSON": '{"defaults": {"run": {"driver_parallel": true, "num_envs": 16}}}\n',
    "JSON without spaces": '{"defaults":{"run":{"driver_parallel":true,"num_envs":16}}}\n',
    "value on the next line": "defaults:\n  run:\n    driver_parallel:\n      True\n    num_envs: 16\n",
    "value after a comment": "defaults:\n  run:\n    driver_parallel: # switch\n      True\n    num_envs: 16\n",
    "question mark": "defaults:\n  run:\n    ? driver_parallel\n    : True\n    ? num_envs\n    : 16\n",
    "question mark, one line each": "defaults:\n  run:\n    ? driver_parallel\n    :\n      True\n",
    "alias": "yes: &y True\ndefaults:\n  run:\n    timer: *y\n    driver_parallel: *y\n",
    "alias in flow": "yes: &y True\ndefaults:\n  run: {timer: *y, driver_parallel: *y}\n",
    "anchor on the value": "defaults:\n  run:\n    driver_parallel: &y True\n    num_envs: 16\n",
    "anchor that others use": "defaults:\n  run:\n    driver_parallel: &y True\n    timer: *y\n",
    "anchor on the section": "defaults:\n  run: &run\n    driver_parallel: True\n  eval: *run\n",
    "alias of the section": "run: &run\n  driver_parallel: True\n  num_envs: 16\ndefaults:\n  run: *run\n",
    "merged section": "base: &base\n  driver_parallel: True\n  num_envs: 16\ndefaults:\n  run:\n    <<: *base\n    steps: 1\n",
    "merged section of several": (
        "one: &one\n  steps: 1\ntwo: &two\n  driver_parallel: True\ndefaults:\n  run:\n    <<: [*one, *two]\n"
    ),
    "merged and overridden": "base: &base\n  driver_parallel: False\ndefaults:\n  run:\n    <<: *base\n    driver_parallel: True\n",
    "merged and off": "base: &base\n  driver_parallel: True\ndefaults:\n  run:\n    driver_parallel: False\n    <<: *base\n",
    "dotted key": "defaults:\n  run.driver_parallel: True\n  run.num_envs: 16\n",
    "dotted key in quotes": "defaults:\n  'run.driver_parallel': True\n",
    "preset beside": "defaults:\n  run:\n    driver_parallel: True\n\ndebug:\n  run.driver_parallel: False\n",
    "document mark": "---\ndefaults:\n  run:\n    driver_parallel: True\n...\n",
    "directive": "%YAML 1.2\n---\ndefaults:\n  run:\n    driver_parallel: True\n",
    "Windows lines": "defaults:\r\n  run:\r\n    driver_parallel: True\r\n    num_envs: 16\r\n",
    "byte order mark": "\ufeffdefaults:\n  run:\n    driver_parallel: True\n",
    "umlauts before": 'defaults:\n  run: {name: "größe 模型", driver_parallel: True}\n',
    "no end of line": "defaults:\n  run:\n    driver_parallel: True",
    "long text before": "defaults:\n  about: |\n    driver_parallel: True\n    and more\n  run:\n    driver_parallel: True\n",
    "off": "defaults:\n  run:\n    driver_parallel: False\n",
    "zero": "defaults:\n  run:\n    driver_parallel: 0\n",
    "quoted false": 'defaults:\n  run:\n    driver_parallel: "False"\n',
    "in a comment only": "defaults:\n  run:\n    # driver_parallel: True\n    steps: 1\n",
    "elsewhere": "defaults:\n  driver_parallel: True\n  run:\n    steps: 1\n",
    "tabs": "defaults:\n  run:\n\t\tdriver_parallel: True\n",
    "a tab after all": "defaults:\n  run:\n    driver_parallel: True\n\tnum_envs: 16\n",
    "Latin-1": "defaults:\n  # Größe\n  run:\n    driver_parallel: True\n".encode("latin-1"),
    "form feed": "defaults:\n  run:\n    driver_parallel: True\n\f\ndebug:\n  steps: 1\n",
    "conflict marks": "defaults:\n  run:\n<<<<<<< HEAD\n    driver_parallel: True\n=======\n    driver_parallel: False\n>>>>>>> x\n",
    "template": "defaults:\n  run:\n    driver_parallel: True\n    steps: {{ steps }}\n",
    "undefined alias": "defaults:\n  run:\n    driver_parallel: True\n    steps: *steps\n",
    "bracket left open": "defaults:\n  run: {driver_parallel: True\n",
    "empty": "",
}  # fmt: skip
SWITCHES = {"driver": ("driver_parallel", "True"), "envs": ("parallel", "process"), "debug": ("debug", "False")}
#: In the layouts of other times the switch is another word.
OTHERS = ("block", "with a comment", "flow", "flow, last", "JSON", "value on the next line", "question mark", "alias",
          "anchor that others use", "merged section", "dotted key", "quoted key", "Windows lines")  # fmt: skip
#: Where another project's file of that name lies.
ELSEWHERE = ("configs.yaml", "serving/configs.yaml", "train/configs.yaml", "dreamerv2/configs.yaml")

#: ``read.py FILE``: what DreamerV3 reads; whether the environments run in processes.
READ = textwrap.dedent("""\
    import json, pathlib, sys
    import elements
    from ruamel.yaml import YAML

    configs = YAML(typ="safe").load(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))
    config = elements.Config(configs["defaults"])
    flat = config.flat
    driver, envs, debug = (flat.get(key) for key in ("run.driver_parallel", "envs.parallel", "run.debug"))
    parallel = bool(driver) or envs in ("process", "daemon") or (debug is not None and not debug)
    for key in ("run.driver_parallel", "envs.parallel", "run.debug"):
        flat.pop(key, None)
    print(json.dumps({"parallel": parallel, "others": flat}, sort_keys=True, default=str))
""")


def variations():
    """By name, the path and the bytes of a file of options."""
    made = {}
    for name, text in DRIVER.items():
        made[f"driver, {name}"] = ("dreamerv3/configs.yaml", text if isinstance(text, bytes) else text.encode())
    for switch, name in ((switch, name) for switch in ("envs", "debug") for name in OTHERS):
        text = DRIVER[name].replace("&y True", f"&y {SWITCHES[switch][1]}")
        text = _exchanged(text, switch)
        made[f"{switch}, {name}"] = ("dreamerv3/configs.yaml", text.encode())
    for place in ELSEWHERE:
        made[f"another project's {place}"] = (place, DRIVER["block"].encode())
    return made


def _exchanged(text, switch):
    """The text with the switch of another layout in place of the driver's."""
    key, value = SWITCHES[switch]
    section = "envs" if switch == "envs" else "run"
    for true in ("True", "true"):
        text = text.replace(
            f'driver_parallel": {true}', f'{key}": "{value}"' if value == "process" else f'{key}": false'
        )
    lines = [
        line.replace("True", value) if "driver_parallel" in line or line.strip() in ("True", ": True") else line
        for line in text.splitlines(keepends=True)
    ]
    return "".join(lines).replace("driver_parallel", key).replace("run", section)


def run(python, variation):
    """What DreamerV3 reads before and after the edit that is printed, and the sentence that prints it."""
    path, data = variation
    before, text = _read(python, data), _printed(variation)
    if not isinstance(before, dict):
        return {"said": f"unreadable: {before}", "printed": text, "state": "unreadable"}
    wanted = before["parallel"] and path.startswith("dreamerv3/")
    said = f"in processes{'' if wanted else ', of another project'}" if before["parallel"] else "one after the other"
    return {
        "said": said,
        "printed": text,
        "state": "on" if wanted else "off",
        "cured": _is_cured(python, data, text, before),
    }


def _is_cured(python, data, text, before):
    """Whether the edit, made to the letter, turns the switch and nothing else; ``None`` where there is no line to edit."""
    edit = re.fullmatch(r"in \S+, line (\d+), write (.*?)(?: in place of (.*))?", text or "", re.DOTALL)
    if edit is None:
        return None
    lines = data.decode().splitlines(keepends=True)
    line = lines[int(edit[1]) - 1]
    lines[int(edit[1]) - 1] = line.replace(edit[3] or line.strip(), edit[2], 1)
    after = _read(python, "".join(lines).encode())
    return isinstance(after, dict) and not after["parallel"] and _others(after) == _others(before)


def _others(read):
    """What else is read; what repeats the same section changes with it."""
    keys = {key for key, _ in SWITCHES.values()}
    return {name: value for name, value in read["others"].items() if name.rpartition(".")[2] not in keys}


def _read(python, data):
    """What DreamerV3's reader makes of the bytes of a file, or its complaint."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "configs.yaml")
        file.write_bytes(data)
        done = subprocess.run([python, "-c", READ, file], capture_output=True, text=True, check=False)
    lines = [line for line in done.stderr.splitlines() if line[:1].isalpha() and "Error" in line]
    return json.loads(done.stdout) if done.returncode == 0 else (lines or ["Error"])[-1][:100]


def _printed(variation):
    """The edit that envdoctor prints, as it prints it."""
    from envdoctor.renderers.layout import way

    path, data = variation
    program = {"dreamerv3/main.py": "import embodied\n"} if path.startswith("dreamerv3/") else {"train.py": "x = 1\n"}
    finding = judged({path: data, **program}, {"cloudpickle": "1.6.0"})["cloudpickle-bytecode-py311"]
    edits = [way(one).text for one in finding.remedies if one.kind == "set"]
    return " or ".join(edits) or None


def outcome(variation, truth):
    """What comes of the edit that is printed today, if it is the one that was tried."""
    printed = _printed(variation)
    if truth["state"] != "on":
        return "quiet" if printed is None else "elsewhere"
    if printed is None:
        return "missed"
    if printed != truth["printed"]:
        return "not cured"
    return {None: "by hand", True: "cured", False: "not cured"}[truth["cured"]]
