"""Format marks: the literal marks by which file formats and pickling helpers are known. Data only.

They are the names that the files themselves contain, written by whatever made them, and no knowledge of what works
with what: that is in the rules. The code beside this table knows no name that is not in it.
"""

from __future__ import annotations

#: File names that are worth opening, by how they end.
SUFFIXES = (
    ".pkl", ".pickle", ".p", ".joblib", ".pt", ".pth", ".ckpt", ".npy", ".npz", ".keras", ".h5", ".hdf5", ".zip",
    ".pkl.gz", ".pkl.bz2", ".pkl.xz", ".pkl.z", ".pickle.gz", ".pickle.bz2", ".pickle.xz",
    ".joblib.gz", ".joblib.bz2", ".joblib.xz", ".joblib.z",
)  # fmt: skip
#: Of those, the ones that anything else may have too: what is none of the known kinds there is passed over in silence.
UNSPECIFIC = (".zip", ".p", ".ckpt", ".h5", ".hdf5", ".pt")

#: Keys of a pickled object's state, or of a pickled dictionary, that hold the release that wrote it.
VERSION_KEYS = {
    "_sklearn_version": "scikit-learn",
    "pytorch-lightning_version": "pytorch-lightning",
    "torch_version": "torch",
    "transformers_version": "transformers",
}

#: What a pickling library calls to make a variable that a function captures, by the last word of the name.
CELLS = ("_make_cell", "_create_cell", "CellType", "make_cell")
#: What it calls to fill a function afterwards, with the function and its state.
FILLERS = ("_function_setstate", "_fill_function")
#: The keys of the captured values and of the qualified name in that state.
CLOSURES, QUALIFIED = ("__closure__", "closure_values"), ("__qualname__", "qualname")
#: Makes bytes of a text in pickles below protocol 3.
ENCODER = "_codecs.encode"
#: Objects that are called as functions and always return what this attribute holds.
CONSTANT_OBJECTS = {"ConstantSchedule": "val", "FloatSchedule": "value_schedule"}
#: Objects that are called as functions and return something else each time.
CALLED_OBJECTS = ("LinearSchedule",)
#: Paths as objects, made of their parts.
PATH_OBJECTS = ("PosixPath", "WindowsPath", "PurePosixPath", "PureWindowsPath", "Path")

#: The class in place of an array whose bytes follow in the stream, and the kind of file that it shows.
ARRAY_STANDIN, ARRAY_STANDIN_KIND = "NumpyArrayWrapper", "joblib"
#: Kinds of pickle by how the file's name ends.
KIND_OF_SUFFIX = {".joblib": "joblib"}
#: In its state: the kind of element, the lengths of its sides, and whether a number of bytes to leave out comes first.
ARRAY_ELEMENT, ARRAY_SHAPE, ARRAY_ALIGNMENT = "dtype", "shape", "numpy_array_alignment_bytes"
#: The class of an array's kind of element, by the last word of its name.
ELEMENT_TYPE = "dtype"

#: The number that a tensor archive of the old kind begins with, itself a pickle, and how many pickles follow.
TENSOR_MAGIC, TENSOR_PICKLES = 0x1950A86A20F9469CFC6C, 4
#: The pickle inside a tensor archive of the new kind, by how its name ends.
TENSOR_MEMBER, TENSOR_KIND, TENSOR_FILE = "/data.pkl", "torch", ".pth"

#: A saved model of an agent: its members, and how the kind is called.
AGENT_DATA, AGENT_VERSION, AGENT_SYSTEM = "data", "_stable_baselines3_version", "system_info.txt"
AGENT_KIND, OLD_AGENT_KIND, AGENT_PACKAGE = "stable-baselines3", "stable-baselines", "stable-baselines3"
AGENT_MEMBERS = ("policy.pth", "pytorch_variables.pth", "policy.optimizer.pth")
SERIALIZED, TYPE = ":serialized:", ":type:"
#: Lines of the member that tells of the system, and the distributions that they mean.
SYSTEM_LABELS = {
    "stable-baselines3": "stable-baselines3",
    "pytorch": "torch",
    "numpy": "numpy",
    "cloudpickle": "cloudpickle",
    "gymnasium": "gymnasium",
    "openai gym": "gym",
    "gym": "gym",
}

#: A saved network: its members in a zip, and its attributes in an HDF5 file.
NETWORK_METADATA, NETWORK_CONFIG = "metadata.json", "config.json"
NETWORK_VERSION, NETWORK_MODEL, NETWORK_PACKAGE = "keras_version", "model_config", "keras"
NETWORK_KIND, NETWORK_HDF5_KIND, NETWORK_LAYERS = "keras", "keras-h5", "keras.layers"
#: Where the classes of layers and models are, as the files say it.
NETWORK_MODULES = ("keras.layers", "keras.src.layers", "keras.models", "keras.src.models")
#: How a layer's class is named whose configuration is a function as bytecode.
FUNCTION_CLASS = "__lambda__"

#: A zip of arrays, and one array.
ARRAY_MAGIC, ARRAY_SUFFIX = b"\x93NUMPY", ".npy"
ARRAY_KIND, ARRAYS_KIND = "npy", "npz"
HDF5_MAGIC = b"\x89HDF\r\n\x1a\n"
ZIP_MAGIC = (b"PK\x03\x04", b"PK\x05\x06")
COMPRESSED_MAGIC = (
    b"\x1f\x8b",
    b"BZh",
    b"\xfd7zXZ\0",
    b"\x5d\0\0",
    b"\x78\x01",
    b"\x78\x5e",
    b"\x78\x9c",
    b"\x78\xda",
)
LZ4_MAGIC = b"\x04\x22\x4d\x18"
