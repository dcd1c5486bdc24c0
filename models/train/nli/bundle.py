"""The weights of a bundle that export.py wrote, so that train.py can go on from them: as precise as its int8."""

import onnx
import torch
from onnx import numpy_helper

from model import Classifier


def load_into(model, folder):
    """What the bundle has; the heads that only training uses stay as they are, and so do classes that it lacks."""
    arrays = {one.name: numpy_helper.to_array(one) for one in onnx.load(str(folder / "model.onnx")).graph.initializer}
    state = model.state_dict()
    for name, value in state.items():
        stored = name if name in arrays else name.removesuffix(".weight")
        if stored not in arrays:
            continue
        array = torch.tensor(arrays[stored])
        if name.endswith("relation_score"):
            array = array.T
        elif f"{stored}.scale" in arrays:
            scale = torch.tensor(arrays[f"{stored}.scale"])
            # Tables have their rows as they are, products turned.
            array = array.float() * scale if stored != name else (array.float() * scale).T
        value[: len(array)] = array.reshape(value[: len(array)].shape)
    model.load_state_dict(state)


def members_of(folder):
    names = [one.name for one in onnx.load(str(folder / "model.onnx"), load_external_data=False).graph.initializer]
    return len({name.split(".")[1] for name in names if name.startswith("members.")})
