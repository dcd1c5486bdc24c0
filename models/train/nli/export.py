"""Writes the bundle: export.py FOLDER. The graph of model.py in int8, its members' mean, and a temperature fitted on pairs held out.

Logits are so scaled that their softmax is the probability: fitted to the least cross-entropy over held-out pairs, half of it by
those about pictures (SNLI dev), half by those of other texts.
"""

import json
import sys
from pathlib import Path

import numpy as np
import torch
from onnx import TensorProto
from tokenizers import Tokenizer
from tokenizers.processors import TemplateProcessing

sys.path.append(str(Path(__file__).resolve().parents[1]))

from data import CLS, EMBEDDING, LABELS, SEP, TOKENS_MAX, WORK, training  # noqa: E402
from model import CLASSES, DIMENSIONS, FAR, RELATION_WIDTH, RELATIONS, SPECIAL, Classifier  # noqa: E402
from onnx_graph import Graph, save_manifest, save_model  # noqa: E402
from served import Served  # noqa: E402

REVISION = "2"
LOWEST = -1e3
# Sources of whole sentences by people.
CALIBRATING = ("snli-dev", "cad", "litl", "mnli-olora", "conj")


class NliGraph(Graph):
    def __init__(self, state):
        super().__init__()
        self.state = state

    def linear(self, x, name):
        return self.op("Add", self.product(x, f"{name}.weight", self.state[f"{name}.weight"]), self.weight(f"{name}.bias", self.state[f"{name}.bias"]))

    def layer_norm(self, x, name):
        scale, bias = (self.weight(f"{name}.{part}", self.state[f"{name}.{part}"]) for part in ("weight", "bias"))
        return self.op("LayerNormalization", x, scale, bias, axis=-1, epsilon=1e-5)

    def context(self, x, name, text):
        before, here, after = self.op("Split", self.linear(x, f"{name}.mix"), outputs=3, axis=2, num_outputs=3)
        # One token later, and one sooner.
        before = self.op("Pad", before, self.numbers(0, 1, 0, 0, -1, 0))
        after = self.op("Pad", after, self.numbers(0, -1, 0, 0, 1, 0))
        mixed = self.op("Gelu", self.op("Add", here, self.op("Add", before, after)))
        return self.op("Mul", self.layer_norm(self.op("Add", x, mixed), f"{name}.norm"), text)

    def heads(self, x, heads):
        return self.op("Transpose", self.op("Reshape", x, self.numbers(0, 0, heads, -1)), perm=[0, 2, 1, 3])

    def pooled(self, x, mask):
        """batch × twice the width; of an empty text zeros and LOWEST."""
        count = self.op("Max", self.op("ReduceSum", mask, self.numbers(1), keepdims=0), self.number(1))
        mean = self.op("Div", self.op("ReduceSum", self.op("Mul", x, mask), self.numbers(1), keepdims=0), count)
        shifted = self.op("Add", x, self.op("Mul", self.op("Sub", mask, self.number(1)), self.number(-FAR)))
        highest = self.op("Max", self.op("ReduceMax", shifted, self.numbers(1), keepdims=0), self.number(LOWEST))
        return self.op("Concat", mean, highest, axis=1)

    def member(self, name, heads, vectors, relations, masks):
        text, first, second, unseen = masks
        width = self.state[f"{name}.narrow.weight"].shape[0]
        x = self.op("Mul", self.linear(vectors, f"{name}.narrow"), text)
        for i in range(2):
            x = self.context(x, f"{name}.contexts.{i}", text)
        projected = self.heads(self.linear(x, f"{name}.score"), heads)
        affinity = self.op("MatMul", projected, self.op("Transpose", projected, perm=[0, 1, 3, 2]))
        affinity = self.op("Mul", affinity, self.number((width // heads) ** -0.5))
        # batch × tokens × tokens × relations, to a number per head.
        told = self.op("MatMul", relations, self.weight(f"{name}.relation_score", self.state[f"{name}.relation_score"].T))
        affinity = self.op("Add", affinity, self.op("Transpose", told, perm=[0, 3, 1, 2]))
        attention = self.op("Softmax", self.op("Add", affinity, unseen), axis=-1)
        aligned = self.op("Transpose", self.op("MatMul", attention, self.heads(x, heads)), perm=[0, 2, 1, 3])
        aligned = self.op("Reshape", aligned, self.numbers(0, 0, -1))
        met = self.op("MatMul", self.op("Transpose", attention, perm=[0, 2, 1, 3]), relations)
        met = self.op("Reshape", met, self.numbers(0, 0, -1))
        compared = self.op("Concat", x, aligned, self.op("Sub", x, aligned), self.op("Mul", x, aligned), met, axis=2)
        compared = self.layer_norm(self.op("Gelu", self.linear(compared, f"{name}.compare")), f"{name}.compare_norm")
        compared = self.context(self.op("Mul", compared, text), f"{name}.composition", text)
        p, h = self.pooled(compared, first), self.pooled(compared, second)
        both = self.op("Concat", p, h, self.op("Sub", p, h), self.op("Mul", p, h), axis=1)
        return self.linear(self.op("Gelu", self.linear(both, f"{name}.decide.0")), f"{name}.labels")


def column(graph, x):
    return graph.op("Unsqueeze", x, graph.numbers(2))


def crossed(graph, a, b):
    return graph.op("MatMul", a, graph.op("Transpose", b, perm=[0, 2, 1]))


def all_relations(graph, state, seen):
    """batch × tokens × tokens × relations: the learned ones, and whether the two tokens are the same."""
    across = graph.op("Unsqueeze", "input_ids", graph.numbers(1))
    same = graph.op("Equal", column(graph, "input_ids"), across)
    same = graph.op("Unsqueeze", graph.op("Cast", same, to=TensorProto.FLOAT), graph.numbers(1))
    vectors = graph.rows("relations.table", state["relations.table.weight"], "input_ids")
    turned = graph.op("Reshape", graph.linear(vectors, "relations.left"), graph.numbers(0, 0, len(RELATIONS), RELATION_WIDTH))
    turned = graph.op("Transpose", turned, perm=[0, 2, 1, 3])
    against = graph.op("Unsqueeze", graph.op("Transpose", vectors, perm=[0, 2, 1]), graph.numbers(1))
    logits = graph.op("Add", graph.op("MatMul", turned, against), graph.weight("relations.bias", state["relations.bias"]))
    other = graph.op("Mul", graph.op("Sigmoid", logits), graph.op("Sub", graph.number(1), same))
    found = graph.op("Mul", graph.op("Concat", other, same, axis=1), seen)
    return graph.op("Transpose", found, perm=[0, 2, 3, 1])


def build(state, members, heads, temperature):
    graph = NliGraph(state)
    real = lambda name: graph.op("Cast", name, to=TensorProto.FLOAT)
    words = graph.op("GreaterOrEqual", "input_ids", graph.constant(np.int64(SPECIAL)))
    words = graph.op("Or", words, graph.op("Equal", "input_ids", graph.constant(np.int64(1))))
    text = column(graph, graph.op("Mul", real("attention_mask"), real(words)))
    second = graph.op("Mul", text, column(graph, real("token_type_ids")))
    first = graph.op("Sub", text, second)
    # A token looks only at tokens of the other text.
    seen = graph.op("Add", crossed(graph, first, second), crossed(graph, second, first))
    seen = graph.op("Unsqueeze", seen, graph.numbers(1))
    unseen = graph.op("Mul", graph.op("Sub", graph.number(1), seen), graph.number(FAR))
    relations = all_relations(graph, state, seen)
    vectors = graph.rows("table", state["table.weight"], "input_ids")
    voted = [
        graph.op("Softmax", graph.member(f"members.{i}", heads, vectors, relations, (text, first, second, unseen)), axis=-1)
        for i in range(members)
    ]
    mean = graph.op("Mean", *voted)
    graph.op("Div", graph.op("Log", graph.op("Add", mean, graph.number(1e-9))), graph.number(temperature), name="logits")
    inputs = [(name, TensorProto.INT64, ["batch", "tokens"]) for name in ("input_ids", "attention_mask", "token_type_ids")]
    return graph.model("nli-mini", inputs, [("logits", TensorProto.FLOAT, ["batch", CLASSES])])


def fitted_temperature(logits, labels, weights):
    """The divisor of logits with the least mean cross-entropy."""
    rows = np.arange(len(labels))
    losses = {}
    for temperature in np.arange(0.5, 2.5, 0.01):
        scaled = logits / temperature
        losses[float(temperature)] = float(((np.log(np.exp(scaled).sum(1)) - scaled[rows, labels]) * weights).mean())
    return min(losses, key=losses.get)


def tokenizer_of_pairs(folder):
    tokenizer = Tokenizer.from_file(str(EMBEDDING / "tokenizer.json"))
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1", special_tokens=[("[CLS]", CLS), ("[SEP]", SEP)]
    )
    # tokenizer.json as this library writes it, in one line as the embedding's is not: small.
    (folder / "tokenizer.json").write_text(json.dumps(json.loads(tokenizer.to_str()), ensure_ascii=False))


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    state = torch.load(WORK / "nli.pt")
    members = len({name.split(".")[1] for name in state if name.startswith("members.")})
    heads = state["members.0.relation_score"].shape[0]
    model = Classifier(torch.zeros(len(state["table.weight"]), DIMENSIONS), members=members, heads=heads)
    model.load_state_dict(state)
    tokenizer_of_pairs(folder)
    state = {name: value.numpy() for name, value in state.items()}
    manifest = {
        "id": "nli-mini",
        "kind": "nli",
        "revision": REVISION,
        "licence": "CC-BY-SA-4.0",
        "required_capabilities": ["nli"],
        "max_length": TOKENS_MAX,
        "labels": [*LABELS, "unrelated"],
        "judged_by_words": True,
        "tokenizer": "tokenizer.json",
        "special_tokens": True,
        "onnx": "model.onnx",
    }
    temperature = 1.0
    for _ in range(2):
        names = save_model(build(state, members, heads, temperature), folder)
        save_manifest(folder, manifest, [*names, "tokenizer.json"])
        if temperature == 1.0:
            held_out = [row for row in training()[1] if row[0] in CALIBRATING]
            pictures = np.array([row[0] == "snli-dev" for row in held_out])
            logits = Served(folder).logits([(p, h) for _, p, h, _ in held_out])[:, : len(LABELS)]
            labels = np.array([LABELS.index(row[3]) for row in held_out])
            temperature = fitted_temperature(logits, labels, np.where(pictures, 1 / pictures.sum(), 1 / (~pictures).sum()))
            print(f"temperature {temperature:.2f} by {len(held_out)} pairs")


main()
