"""The largest tensor that a piece of code makes, whatever the machine does with it."""

from __future__ import annotations

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


class LargestTensor(TorchDispatchMode):
    """``bytes`` of the largest result of a torch operation under this context; views of old memory do not count."""

    def __init__(self) -> None:
        super().__init__()
        self.bytes = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        known = {leaf.untyped_storage().data_ptr() for leaf in tree_leaves((args, kwargs)) if _is_tensor(leaf)}
        for leaf in tree_leaves(result):
            if _is_tensor(leaf) and leaf.untyped_storage().data_ptr() not in known:
                self.bytes = max(self.bytes, leaf.untyped_storage().nbytes())
        return result


def _is_tensor(leaf: object) -> bool:
    return isinstance(leaf, torch.Tensor)
