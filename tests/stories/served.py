"""``served.py < PROGRAMS``: run each in a fork of one process that has Stable-Baselines3, as ``forked.py`` does.

Workers start, and work: those that a forkserver starts come of one server for all programs, which has the library too.
"""

import multiprocessing.forkserver

import forked

PRELOADED = "stable_baselines3.common.vec_env"


def main():
    """Run the programs."""
    __import__(PRELOADED)
    import torch

    torch.set_num_threads(1)
    multiprocessing.set_forkserver_preload([PRELOADED])
    server = multiprocessing.forkserver._forkserver
    server.ensure_running()
    server.ensure_running = lambda: None  # it is no child of the forks, which would look for it among theirs
    multiprocessing.context._default_context._actual_context = None  # importing has asked for it
    forked.run()


if __name__ == "__main__":
    main()
