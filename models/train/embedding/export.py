"""Writes the bundle: export.py FOLDER. Reads embedding.npy and tokenizer.json.

weights.bin holds the table as int8 (vocabulary × dimensions) and after it a float32 scale per token. model.onnx is the
graph over it, with weights.bin as its external data: input_ids and attention_mask (int64, batch × length) to
sentence_embedding (float32, batch × dimensions, L2-normalised). The server's static runtime reads weights.bin alone.
"""

import hashlib
import json
import shutil
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper

from data import DIMENSIONS, VOCABULARY, WORK

REVISION = "1"
TOKENS_MAX = 512


def quantised(table):
    """int8 values and a scale per row: value × scale."""
    scales = np.maximum(np.abs(table).max(1), 1e-12) / 127
    return np.round(table / scales[:, None]).astype(np.int8), scales.astype(np.float32)


def external(name, type_, shape, offset, length):
    tensor = TensorProto(name=name, data_type=type_, dims=shape, data_location=TensorProto.EXTERNAL)
    for key, value in (("location", "weights.bin"), ("offset", offset), ("length", length)):
        tensor.external_data.add(key=key, value=str(value))
    return tensor


def graph():
    bytes_ = VOCABULARY * DIMENSIONS
    weights = [
        external("table", TensorProto.INT8, [VOCABULARY, DIMENSIONS], 0, bytes_),
        external("scales", TensorProto.FLOAT, [VOCABULARY], bytes_, VOCABULARY * 4),
        helper.make_tensor("last", TensorProto.INT64, [1], [-1]),
        helper.make_tensor("tokens", TensorProto.INT64, [1], [1]),
    ]
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["rows8"]),
        helper.make_node("Cast", ["rows8"], ["rows"], to=TensorProto.FLOAT),
        helper.make_node("Gather", ["scales", "input_ids"], ["row_scales"]),
        helper.make_node("Cast", ["attention_mask"], ["mask"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["row_scales", "mask"], ["factors"]),
        helper.make_node("Unsqueeze", ["factors", "last"], ["columns"]),
        helper.make_node("Mul", ["rows", "columns"], ["scaled"]),
        helper.make_node("ReduceSum", ["scaled", "tokens"], ["sum"], keepdims=0),
        helper.make_node("LpNormalization", ["sum"], ["sentence_embedding"], axis=-1, p=2),
    ]
    integers = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "length"])
        for name in ("input_ids", "attention_mask")
    ]
    output = helper.make_tensor_value_info("sentence_embedding", TensorProto.FLOAT, ["batch", DIMENSIONS])
    return helper.make_model(
        helper.make_graph(nodes, "tessera-embed-384", integers, [output], weights),
        opset_imports=[helper.make_opsetid("", 17)],
        ir_version=8,
    )


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    table, scales = quantised(np.load(WORK / "embedding.npy"))
    (folder / "weights.bin").write_bytes(table.tobytes() + scales.tobytes())
    (folder / "model.onnx").write_bytes(graph().SerializeToString())
    onnx.checker.check_model(str(folder / "model.onnx"))
    shutil.copyfile(WORK / "tokenizer.json", folder / "tokenizer.json")
    files = []
    for name in ("model.onnx", "weights.bin", "tokenizer.json"):
        content = (folder / name).read_bytes()
        files.append({"name": name, "bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()})
    manifest = {
        "id": "tessera-embed-384",
        "alias": "default",
        "kind": "embedding",
        "revision": REVISION,
        "licence": "Apache-2.0",
        "required_capabilities": ["embedding"],
        "dimensions": DIMENSIONS,
        "max_length": TOKENS_MAX,
        "tokenizer": "tokenizer.json",
        "unknown": 1,
        "onnx": "model.onnx",
        "static": {"table": "weights.bin", "rows": VOCABULARY},
        "files": files,
    }
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n")
    print(sum(file["bytes"] for file in files), "bytes")


main()
