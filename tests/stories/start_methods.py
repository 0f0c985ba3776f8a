"""Story 1, first half: in what shapes people set the start method of ``multiprocessing``, and where.

The truth is what the program's own Python makes of it: whether a child that is started anew gets through.
"""

import itertools

from judging import judged
from running import ended
from stories import found_or_not

IMPORTS = "import contextlib\nimport multiprocessing as mp\nimport os\nimport platform\nimport sys\nimport warnings\n"
WORK = "\n\ndef work(number=0):\n    return number\n\n"
START = {
    "process": """\
    process = mp.Process(target=work)
    process.start()
    process.join()
    sys.exit(process.exitcode)
""",
    "pool": """\
    with mp.Pool(1) as pool:
        print(pool.apply_async(work, (1,)).get(timeout=8))
    os._exit(0)
""",
    "executor": """\
    from concurrent.futures import ProcessPoolExecutor

    with ProcessPoolExecutor(1) as executor:
        print(executor.submit(work, 1).result())
""",
    "nothing": "    print(work(1))\n",
}
SET = 'mp.set_start_method("spawn")'
ASK = "mp.get_start_method(allow_none=True)"
#: By name, the lines that set it, at the top level of the program.
SHAPES = {
    "plainly": SET,
    "forkserver": 'mp.set_start_method("forkserver")',
    "fork": 'mp.set_start_method("fork")',
    "imported by name": 'from multiprocessing import set_start_method\nset_start_method("spawn")',
    "imported by another name": 'from multiprocessing import set_start_method as choose\nchoose("spawn")',
    "by keyword": 'mp.set_start_method(method="spawn")',
    "from a constant": 'METHOD = "spawn"\nmp.set_start_method(METHOD)',
    "from the environment": 'mp.set_start_method(os.environ.get("METHOD", "spawn"))',
    "with force": 'mp.set_start_method("spawn", force=True)',
    "with force by position": 'mp.set_start_method("spawn", True)',
    "with force that is not": 'mp.set_start_method("spawn", force=False)',
    "try RuntimeError": f"try:\n    {SET}\nexcept RuntimeError:\n    pass",
    "try RuntimeError as error": f"try:\n    {SET}\nexcept RuntimeError as error:\n    print(error)",
    "try Exception": f"try:\n    {SET}\nexcept Exception:\n    pass",
    "try everything": f"try:\n    {SET}\nexcept:\n    pass",
    "try several": f"try:\n    {SET}\nexcept (ValueError, RuntimeError):\n    pass",
    "try ValueError": f"try:\n    {SET}\nexcept ValueError:\n    pass",
    "try builtins.RuntimeError": f"import builtins\ntry:\n    {SET}\nexcept builtins.RuntimeError:\n    pass",
    "try and raise again": f"try:\n    {SET}\nexcept RuntimeError:\n    raise",
    "try and finally": f"try:\n    {SET}\nfinally:\n    print('set')",
    "try around a function": f"def setup():\n    {SET}\n\ntry:\n    setup()\nexcept RuntimeError:\n    pass",
    "in the else of a try": f"try:\n    import json\nexcept RuntimeError:\n    pass\nelse:\n    {SET}",
    "suppress RuntimeError": f"with contextlib.suppress(RuntimeError):\n    {SET}",
    "suppress Exception": f"from contextlib import suppress\nwith suppress(Exception):\n    {SET}",
    "suppress ValueError": f"with contextlib.suppress(ValueError):\n    {SET}",
    "in another with": f"with warnings.catch_warnings():\n    {SET}",
    "if none is set": f"if {ASK} is None:\n    {SET}",
    "if not set": f"if not {ASK}:\n    {SET}",
    "if another is set": f'if {ASK} != "spawn":\n    {SET}',
    "if none is set, by a variable": f"method = {ASK}\nif method is None:\n    {SET}",
    "if none is set, in one expression": f"{SET} if {ASK} is None else None",
    "or, in one expression": f"{ASK} or {SET}",
    "if none is set, after all": f"if {ASK} is not None:\n    pass\nelse:\n    {SET}",
    "in the main process by its parent": f"if mp.parent_process() is None:\n    {SET}",
    "in the main process by its name": f'if mp.current_process().name == "MainProcess":\n    {SET}',
    "unless it is a child by the module": f'if __name__ != "__mp_main__":\n    {SET}',
    "on Windows": f'if sys.platform == "win32":\n    {SET}',
    "on Windows, by os": f'if os.name == "nt":\n    {SET}',
    "on a Mac": f'if platform.system() == "Darwin":\n    {SET}',
    "not on Windows": f'if sys.platform != "win32":\n    {SET}',
    "on Linux": f'if sys.platform.startswith("linux"):\n    {SET}',
    "in any case": f"if True:\n    {SET}",
    "in a loop": f"for _ in range(1):\n    {SET}",
    "in a class": f"class Settings:\n    {SET}",
    "in a function that is called": f"def setup():\n    {SET}\n\nsetup()",
    "in a function that is called twice removed": f"def setup():\n    {SET}\n\ndef prepare():\n    setup()\n\nprepare()",
    "in a function with a try": f"def setup():\n    try:\n        {SET}\n    except RuntimeError:\n        pass\n\nsetup()",
    "in a lambda that is called": f"setup = lambda: {SET}\nsetup()",
    "in a function that nobody calls": f"def setup():\n    {SET}",
}
#: By name, the files besides and the lines of the program: set in another module.
MODULES = {
    "in a module that is imported": ({"settings.py": f"import multiprocessing as mp\n{SET}\n"}, "import settings\n", ""),
    "in a module that is imported under the guard": (
        {"settings.py": f"import multiprocessing as mp\n{SET}\n"}, "", "    import settings\n",
    ),
    "in a package": ({"pack/__init__.py": f"import multiprocessing as mp\n{SET}\n"}, "import pack\n", ""),
    "in a module's function, called by the program": (
        {"settings.py": f"import multiprocessing as mp\n\ndef setup():\n    {SET}\n"}, "import settings\nsettings.setup()\n", "",
    ),
    "in a module's function, called under the guard": (
        {"settings.py": f"import multiprocessing as mp\n\ndef setup():\n    {SET}\n"}, "import settings\n",
        "    settings.setup()\n",
    ),
    "in a module with a try": (
        {"settings.py": f"import multiprocessing as mp\ntry:\n    {SET}\nexcept RuntimeError:\n    pass\n"},
        "import settings\n", "",
    ),
}  # fmt: skip
GUARD = 'if __name__ == "__main__":\n'


def variations():
    """By name: the files of a program, ``main.py`` among them."""
    made = {}
    for (name, shape), start in itertools.product(SHAPES.items(), START):
        if start == "process" or name in {"plainly", "try RuntimeError"} or (start == "pool" and "function" in name):
            made[f"{name}, {start}"] = {"main.py": f"{IMPORTS}{WORK}{shape}\n\n{GUARD}{START[start]}"}
    for name, (files, before, under) in MODULES.items():
        text = f"{IMPORTS}{before}{WORK}{GUARD}{under}{START['process']}"
        made[f"{name}, process"] = {**files, "main.py": text}
    process = START["process"]
    made["under the guard"] = {"main.py": f"{IMPORTS}{WORK}{GUARD}    {SET}\n{process}"}
    made["in main"] = {"main.py": f"{IMPORTS}{WORK}def main():\n    {SET}\n{process}\n\n{GUARD}    main()\n"}
    made["by a context"] = {"main.py": f'{IMPORTS}{WORK}mp = mp.get_context("spawn")\n\n{GUARD}{process}'}
    return made


def run(python, files):
    """How the program ends."""
    return ended(python, files, seconds=20)


def outcome(files, truth):
    """What envdoctor makes of it."""
    return found_or_not(judged(files, {}), truth)
