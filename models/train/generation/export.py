"""Writes the bundle: export.py WEIGHTS.pt FOLDER. The computation of model.py, operator by operator, with int8 weights.

Inputs input_ids, attention_mask, position_ids and past_key_values.{i}.key/value, outputs logits and present.{i}.key/value, as
small instruct models are laid out.
"""

import json
import math
import shutil
import sys
from pathlib import Path

import numpy as np
import torch
from onnx import TensorProto

sys.path.append(str(Path(__file__).resolve().parents[1]))

from corpus import WORK  # noqa: E402
from model import EPSILON, Shape, rotary  # noqa: E402
from onnx_graph import Graph, save_manifest, save_model  # noqa: E402
from template import ASSISTANT, BOS, END, PAD, SPECIAL_TOKENS, SYSTEM, TEMPLATE, USER  # noqa: E402

REVISION = "1"
MASKED = -1e9


class DecoderGraph(Graph):
    def norm(self, x, name, weight):
        mean = self.op("ReduceMean", self.op("Mul", x, x), self.numbers(-1), keepdims=1)
        root = self.op("Sqrt", self.op("Add", mean, self.number(EPSILON)))
        return self.op("Mul", self.op("Div", x, root), self.weight(f"{name}.weight", weight))


def turned(graph, x, cos, sin, half):
    first = graph.op("Slice", x, graph.numbers(0), graph.numbers(half), graph.numbers(3))
    second = graph.op("Slice", x, graph.numbers(half), graph.numbers(2 * half), graph.numbers(3))
    left = graph.op("Sub", graph.op("Mul", first, cos), graph.op("Mul", second, sin))
    right = graph.op("Add", graph.op("Mul", second, cos), graph.op("Mul", first, sin))
    return graph.op("Concat", left, right, axis=3)


def mask(graph):
    """batch × 1 × tokens × past and tokens: 0 where a token may look, far below where not."""
    total = graph.op("Shape", "attention_mask", start=1, end=2)
    tokens = graph.op("Shape", "input_ids", start=1, end=2)
    places = graph.op("Range", graph.constant(np.int64(0)), graph.op("Squeeze", total), graph.constant(np.int64(1)))
    rows = graph.op("Slice", places, graph.op("Sub", total, tokens), total)
    later = graph.op("Greater", graph.op("Unsqueeze", places, graph.numbers(0)), graph.op("Unsqueeze", rows, graph.numbers(1)))
    absent = graph.op("Equal", "attention_mask", graph.constant(np.int64(0)))
    absent = graph.op("Unsqueeze", absent, graph.numbers(1, 2))
    hidden = graph.op("Or", graph.op("Unsqueeze", later, graph.numbers(0, 1)), absent)
    return graph.op("Where", hidden, graph.number(MASKED), graph.number(0))


def layer(graph, shape, i, x, cos, sin, hidden, weights):
    head, groups = shape.head, shape.heads // shape.kv_heads
    qkv = graph.narrow_product(graph.norm(x, f"{i}.norm1", weights["norm1.weight"]), f"{i}.qkv", weights["qkv.weight"])
    sizes = [shape.heads * head, shape.kv_heads * head, shape.kv_heads * head]
    q, k, v = graph.op("Split", qkv, graph.numbers(*sizes), outputs=3, axis=2)
    split = lambda one, heads: graph.op("Transpose", graph.op("Reshape", one, graph.numbers(0, 0, heads, head)), perm=[0, 2, 1, 3])
    q = turned(graph, split(q, shape.heads), cos, sin, head // 2)
    k = turned(graph, split(k, shape.kv_heads), cos, sin, head // 2)
    k = graph.op("Concat", f"past_key_values.{i}.key", k, name=f"present.{i}.key", axis=2)
    v = graph.op("Concat", f"past_key_values.{i}.value", split(v, shape.kv_heads), name=f"present.{i}.value", axis=2)
    # Queries of a group beside each other: batch × kv heads × group × tokens × head.
    q = graph.op("Reshape", q, graph.numbers(0, shape.kv_heads, groups, -1, head))
    scores = graph.op("MatMul", q, graph.op("Transpose", graph.op("Unsqueeze", k, graph.numbers(2)), perm=[0, 1, 2, 4, 3]))
    scores = graph.op("Add", graph.op("Mul", scores, graph.number(head**-0.5)), graph.op("Unsqueeze", hidden, graph.numbers(1)))
    attended = graph.op("MatMul", graph.op("Softmax", scores, axis=-1), graph.op("Unsqueeze", v, graph.numbers(2)))
    attended = graph.op("Reshape", attended, graph.numbers(0, shape.heads, -1, head))
    attended = graph.op("Reshape", graph.op("Transpose", attended, perm=[0, 2, 1, 3]), graph.numbers(0, 0, -1))
    x = graph.op("Add", x, graph.narrow_product(attended, f"{i}.out", weights["out.weight"]))
    inner = graph.op("Relu", graph.narrow_product(graph.norm(x, f"{i}.norm2", weights["norm2.weight"]), f"{i}.up", weights["up.weight"]))
    return graph.op("Add", x, graph.narrow_product(graph.op("Mul", inner, inner), f"{i}.down", weights["down.weight"]))


def build(shape, state):
    graph = DecoderGraph()
    state = {name: tensor.float().numpy() for name, tensor in state.items()}
    x = graph.rows("table", state["table.weight"], "input_ids", math.sqrt(shape.width))
    cos, sin = (
        graph.op("Unsqueeze", graph.op("Gather", graph.weight(name, values.numpy()), "position_ids"), graph.numbers(1))
        for name, values in zip(("cos", "sin"), rotary(shape, shape.context))
    )
    hidden = mask(graph)
    for i in range(shape.layers):
        of_layer = {name.split(".", 2)[2]: value for name, value in state.items() if name.startswith(f"layers.{i}.")}
        x = layer(graph, shape, i, x, cos, sin, hidden, of_layer)
    logits = graph.narrow_product(graph.norm(x, "norm", state["norm.weight"]), "output", state["table.weight"])
    graph.op("Identity", logits, name="logits")
    whole, real = TensorProto.INT64, TensorProto.FLOAT
    kept = lambda kind, length: [
        (f"{kind}.{i}.{part}", real, ["batch", shape.kv_heads, length, shape.head]) for i in range(shape.layers) for part in ("key", "value")
    ]
    inputs = [(name, whole, ["batch", length]) for name, length in (("input_ids", "tokens"), ("attention_mask", "total"), ("position_ids", "tokens"))]
    outputs = [("logits", real, ["batch", "tokens", shape.vocabulary]), *kept("present", "total")]
    return graph.model("tessera-chat", [*inputs, *kept("past_key_values", "past")], outputs)


def main():
    saved, folder = torch.load(sys.argv[1]), Path(sys.argv[2])
    shape = Shape(**saved["shape"])
    folder.mkdir(parents=True, exist_ok=True)
    names = save_model(build(shape, saved["state"]), folder)
    shutil.copyfile(WORK / "tokenizer.json", folder / "tokenizer.json")
    config = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": SPECIAL_TOKENS[BOS],
        "eos_token": SPECIAL_TOKENS[END],
        "pad_token": SPECIAL_TOKENS[PAD],
        "model_max_length": shape.context,
        "chat_template": TEMPLATE,
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(config, indent=2) + "\n")
    manifest = {
        "id": "tessera-chat",
        "alias": "chat",
        "quotes_passages": True,
        "kind": "generation",
        "revision": REVISION,
        "licence": "CC-BY-SA-4.0",
        "required_capabilities": ["generation"],
        "max_length": shape.context,
        "tokenizer": "tokenizer.json",
        "tokenizer_config": "tokenizer_config.json",
        "onnx": "model.onnx",
        "generation": {
            "layers": shape.layers,
            "kv_heads": shape.kv_heads,
            "head_dimensions": shape.head,
            "vocabulary": shape.vocabulary,
            # A reply ends at any of these; the others are how a prompt goes on, never a reply.
            "eos_token_ids": [END, USER, ASSISTANT, SYSTEM, BOS],
            "defaults": {"temperature": 0.7, "top_p": 0.9, "max_tokens": 128},
        },
    }
    save_manifest(folder, manifest, [*names, "tokenizer.json", "tokenizer_config.json"])


main()
