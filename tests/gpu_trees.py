"""File systems of machines with NVIDIA GPUs, as their files tell: five in which something is wrong, and five healthy ones.

What the files of drivers and wheels contain was taken from real ones: torch 2.1.0, torchvision 0.16.0, xformers 0.0.22,
bitsandbytes 0.45.0 and jaxlib 0.7.1 of the index, and the threads that the rules cite.
"""

from images import Image, elf

SITE = "/opt/venv/lib/python{}/site-packages"
OLD_ABI = "_ZN3c105ErrorC2ENS_14SourceLocationESs"
NEW_ABI = "_ZN3c105ErrorC2ENS_14SourceLocationENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"
HOPPER = "sm_50 sm_60 sm_70 sm_75 sm_80 sm_86 sm_90"
BLACKWELL = "sm_70 sm_75 sm_80 sm_86 sm_90 sm_100 sm_120"


def torch(version, cuda, kernels=HOPPER, abi=OLD_ABI):
    """The files of a wheel of torch that tell what it was built for."""
    stated = f"from typing import Optional\n__version__ = '{version}'\ncuda: Optional[str] = {cuda!r}\nhip = None\n"
    return {
        "torch/version.py": stated,
        "torch/lib/libtorch_python.so": elf(content=b"\0" + kernels.encode() + b"\0"),
        "torch/lib/libc10.so": elf(content=b"\0" + abi.encode() + b"\0"),
    }


def build_info(cuda, *kernels):
    """The file in which tensorflow notes how it was built."""
    return (
        f"build_info = collections.OrderedDict([('cpu_compiler', 'clang'), ('cuda_compute_capabilities', {[*kernels]}),"
        f" ('cuda_version', '{cuda}'), ('cudnn_version', '9'), ('is_cuda_build', True)])\n"
    )


def extension(*names):
    return elf(content=b"".join(b"\0" + name.encode() + b"\0" for name in names))


def nvidia(driver, model, device):
    """What the driver of a GPU and its bus leave in a file system."""
    library = f"/usr/lib/x86_64-linux-gnu/libcuda.so.{driver}"
    return {
        "/proc/driver/nvidia/version": f"NVRM version: NVIDIA UNIX x86_64 Kernel Module  {driver}  Release Build\n",
        "/proc/driver/nvidia/gpus/0000:01:00.0/information": f"Model: \t\t {model}\nIRQ:   \t\t 130\n",
        "/sys/bus/pci/devices/0000:01:00.0/uevent": f"DRIVER=nvidia\nPCI_CLASS=30000\nPCI_ID=10DE:{device}\n",
        library: elf(),
    }


WSL = {"/usr/lib/wsl/lib/libcuda.so.1": elf()}
_TORCH_21 = {"torch": "2.1.0", "torchvision": "0.16.0"}
#: By name: the Python, the distributions, their files and those of the machine, and the rules that hold.
TREES = {
    "a driver of CUDA 11, torch for CUDA 12": {
        "python": "3.10.14",
        "packages": _TORCH_21,
        "files": {**torch("2.1.0+cu121", "12.1"), "torchvision/version.py": "__version__ = '0.16.0+cu121'\n"},
        "machine": nvidia("470.86", "NVIDIA GeForce RTX 3050 Laptop GPU", "25A2"),
        "capability": "8.6",
        "holds": {"nvidia-driver-older-than-cuda"},
    },
    "a GTX 1080 Ti, torch for CUDA 12.8": {
        "python": "3.12.4",
        "packages": {"torch": "2.8.0"},
        "files": torch("2.8.0+cu128", "12.8", BLACKWELL, NEW_ABI),
        "machine": nvidia("570.133.20", "NVIDIA GeForce GTX 1080 Ti", "1B06"),
        "capability": "6.1",
        "holds": {"wheel-lacks-kernels-for-gpu"},
    },
    "extensions for another torch, CUDA and C++ ABI": {
        "python": "3.10.14",
        "packages": {**_TORCH_21, "xformers": "0.0.23", "flash-attn": "2.7.4.post1"},
        "files": {
            **torch("2.1.0+cu121", "12.1"),
            "torchvision/version.py": "__version__ = '0.16.0+cu118'\n",
            "xformers/cpp_lib.json": '{"version": {"cuda": 1201, "torch": "2.1.1+cu121", "python": "3.10.13"}}',
            "flash_attn_2_cuda.cpython-310-x86_64-linux-gnu.so": extension(NEW_ABI),
        },
        "machine": nvidia("535.183.01", "NVIDIA A100-SXM4-80GB", "20B2"),
        "capability": "8.0",
        "holds": {
            *("torch-companion-for-other-cuda", "extension-built-for-other-torch", "extension-of-other-torch-abi"),
        },
    },
    "a CUDA plugin of another jaxlib, two cuDNN wheels": {
        "python": "3.12.4",
        "packages": {
            "jax": "0.9.0.1",
            "jaxlib": "0.9.0.1",
            "jax-cuda12-plugin": "0.9.2",
            "jax-cuda12-pjrt": "0.9.0.1",
            "nvidia-cudnn-cu11": "8.9.4.19",
            "nvidia-cudnn-cu12": "9.10.2.21",
        },
        "files": {},
        "machine": nvidia("570.133.20", "NVIDIA H100 80GB HBM3", "2330"),
        "capability": "9.0",
        "holds": {"jax-plugin-of-other-release", "cuda-libraries-of-two-generations"},
    },
    "a Linux driver inside WSL": {
        "python": "3.12.4",
        "packages": {"torch": "2.5.1"},
        "files": torch("2.5.1+cu124", "12.4"),
        "machine": {**WSL, "/usr/lib/x86_64-linux-gnu/libcuda.so.560.35.03": elf()},
        "holds": {"linux-driver-inside-wsl"},
    },
    "healthy: an H100, everything for CUDA 12.8, Python 3.13": {
        "python": "3.13.1",
        "packages": {"torch": "2.9.1", "torchvision": "0.24.1", "flash-attn": "2.8.3", "bitsandbytes": "0.48.1"},
        "files": {
            **torch("2.9.1+cu128", "12.8", BLACKWELL, NEW_ABI),
            "torchvision/version.py": "__version__ = '0.24.1+cu128'\n",
            "torchvision/_C.so": extension(NEW_ABI),
            "flash_attn_2_cuda.cpython-313-x86_64-linux-gnu.so": extension(NEW_ABI),
            "bitsandbytes/libbitsandbytes_cuda128.so": elf(),
        },
        "machine": nvidia("570.133.20", "NVIDIA H100 80GB HBM3", "2330"),
        "capability": "9.0",
        "holds": set(),
    },
    "healthy: torch for CUDA 12.4 on a driver of CUDA 12.2": {
        "python": "3.11.9",
        "packages": {"torch": "2.6.0"},
        "files": torch("2.6.0+cu124", "12.4"),
        "machine": nvidia("535.183.01", "NVIDIA GeForce RTX 4090", "2684"),
        "capability": "8.9",
        "holds": set(),
    },
    "healthy: an A100 with the compatibility package of CUDA 13": {
        "python": "3.12.4",
        "packages": {"torch": "2.9.1"},
        "files": torch("2.9.1+cu130", "13.0", "sm_75 sm_80 sm_86 sm_90 sm_100 sm_120 compute_120", NEW_ABI),
        "machine": {
            **nvidia("550.144.03", "NVIDIA A100-SXM4-80GB", "20B2"),
            "/usr/local/cuda-13.0/compat/libcuda.so.580.65.06": elf(),
        },
        "capability": "8.0",
        "holds": set(),
    },
    "healthy: tensorflow on a card newer than it, which it has PTX for": {
        "python": "3.12.4",
        "packages": {"tensorflow": "2.19.0", "nvidia-cudnn-cu12": "9.3.0.75"},
        "files": {
            "tensorflow/python/platform/build_info.py": build_info("12.5.1", "sm_60", "sm_70", "sm_89", "compute_90")
        },
        "machine": nvidia("570.133.20", "NVIDIA GeForce RTX 5090", "2B85"),
        "capability": "12.0",
        "holds": set(),
    },
    "healthy: WSL with the driver of Windows alone": {
        "python": "3.12.4",
        "packages": {"torch": "2.5.1"},
        "files": torch("2.5.1+cu124", "12.4"),
        "machine": WSL,
        "holds": set(),
    },
}


def laid_out(path, name):
    """The file system of that name, below a path that is made."""
    tree = TREES[name]
    minor = ".".join(tree["python"].split(".")[:2])
    image = Image(path).python("/usr", tree["python"])
    image.venv("/opt/venv", "/usr/bin", minor, f"include-system-site-packages = false\nversion = {tree['python']}\n")
    for distribution in tree["packages"].items():
        image.distribution(SITE.format(minor), *distribution)
    for place, content in [*tree["machine"].items(), *tree["files"].items()]:
        image.file(place if place.startswith("/") else f"{SITE.format(minor)}/{place}", content)
    return image
