"""Builds ONNX graphs operator by operator, with int8 weights, and writes a bundle's files. Used by nli/export.py and generation/export.py.

All weights are int8 with scales; what flows through is float, so an answer does not depend on what else is in its batch.
"""

import hashlib
import json

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FILE_BYTES_MAX = 14_000_000
# Smaller tensors stay in model.onnx.
EXTERNAL_BYTES_MIN = 1024
BLOCK = 32
OPSETS = [helper.make_opsetid("", 20), helper.make_opsetid("com.microsoft", 1)]


class Graph:
    def __init__(self):
        self.nodes, self.weights, self._shared = [], [], {}

    def op(self, kind, *inputs, outputs=1, name=None, **attributes):
        """Names of its outputs; one alone as it is."""
        names = [name] if name else [f"{kind}_{len(self.nodes)}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(kind, list(inputs), names, **attributes))
        return names[0] if len(names) == 1 else names

    def weight(self, name, array):
        self.weights.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def constant(self, array):
        array = np.asarray(array)
        key = (array.dtype.str, array.shape, array.tobytes())
        if key not in self._shared:
            self._shared[key] = self.weight(f"constant_{len(self._shared)}", array)
        return self._shared[key]

    def numbers(self, *values):
        return self.constant(np.array(values, dtype=np.int64))

    def number(self, value):
        return self.constant(np.float32(value))

    def rows(self, name, table, ids, factor=1.0):
        """Rows of an int8 table, each times its scale and `factor`."""
        quantised, scale = int8_rows(table)
        values = self.op("Cast", self.op("Gather", self.weight(name, quantised), ids), to=TensorProto.FLOAT)
        return self.op("Mul", values, self.op("Gather", self.weight(f"{name}.scale", scale[:, None] * np.float32(factor)), ids))

    def product(self, x, name, matrix):
        """x · matrixᵀ, the matrix (outputs × inputs) widened to float when the model is loaded: for many rows at once."""
        quantised, scale = int8_rows(matrix)
        weight = self.op("DequantizeLinear", self.weight(name, quantised.T), self.weight(f"{name}.scale", scale), axis=1)
        return self.op("MatMul", x, weight)

    def narrow_product(self, x, name, matrix):
        """x · matrixᵀ with int8 weights also in memory, a scale per BLOCK of inputs: for few rows at a time."""
        outputs, inputs = matrix.shape
        blocks = matrix.reshape(outputs, inputs // BLOCK, BLOCK)
        scale = (np.maximum(np.abs(blocks).max(2), 1e-8) / 127).astype(np.float32)
        quantised = (np.round(blocks / scale[..., None]) + 128).astype(np.uint8)
        return self.op(
            "MatMulNBits",
            x,
            self.weight(name, quantised),
            self.weight(f"{name}.scale", scale),
            domain="com.microsoft",
            K=inputs,
            N=outputs,
            bits=8,
            block_size=BLOCK,
            accuracy_level=4,
        )

    def model(self, name, inputs, outputs):
        """(name, type, dimensions) each."""
        infos = [[helper.make_tensor_value_info(*one) for one in some] for some in (inputs, outputs)]
        made = helper.make_graph(self.nodes, name, *infos, self.weights)
        return helper.make_model(made, opset_imports=OPSETS, ir_version=10)


def int8_rows(matrix):
    """int8 rows of it, and what to multiply each by."""
    scale = np.maximum(np.abs(matrix).max(1), 1e-8) / 127
    return np.round(matrix / scale[:, None]).astype(np.int8), scale.astype(np.float32)


def save_model(model, folder):
    """model.onnx, and large weights beside it in files of at most FILE_BYTES_MAX; the names of all."""
    names, room = ["model.onnx"], 0
    for tensor in model.graph.initializer:
        content = tensor.raw_data
        if len(content) < EXTERNAL_BYTES_MIN:
            continue
        if room < len(content):
            names.append(f"weights-{len(names)}.bin")
            (folder / names[-1]).write_bytes(b"")
            room = FILE_BYTES_MAX
        path = folder / names[-1]
        offset = path.stat().st_size
        content_padded = content + bytes(-len(content) % 64)
        with path.open("ab") as file:
            file.write(content_padded)
        room -= len(content_padded)
        onnx.external_data_helper.set_external_data(tensor, names[-1], offset, len(content))
        tensor.ClearField("raw_data")
        tensor.data_location = TensorProto.EXTERNAL
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    return names


def save_manifest(folder, manifest, names):
    """manifest.json with what each file must be."""
    files = []
    for name in names:
        content = (folder / name).read_bytes()
        files.append({"name": name, "bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()})
    (folder / "manifest.json").write_text(json.dumps({**manifest, "files": files}, indent=2) + "\n")
    print(sum(file["bytes"] for file in files), "bytes")
