"""First vectors of tokens: positive pointwise mutual information of tokens within five places, reduced to 384
dimensions by a randomised SVD (Levy, Goldberg and Dagan 2015; Halko, Martinsson and Tropp 2011). 2 minutes, 6 GB.

Writes ppmi.npy (float32, vocabulary × dimensions) and frequencies.npy (counts of tokens in the corpus).
"""

import numpy as np
import scipy.sparse as sparse
import torch

from data import DIMENSIONS, VOCABULARY, WORK

WINDOW = 5
FREQUENT = 1e-4  # word2vec's subsampling of frequent tokens
SMOOTHING = 0.75  # of the context's distribution
SEPARATOR = 3
SPECIAL_LAST = 4
SLICE = 4_000_000
OVERSAMPLING = 40

ids = np.load(WORK / "corpus-ids.npy").astype(np.int64)
counts = np.bincount(ids, minlength=VOCABULARY)
np.save(WORK / "frequencies.npy", counts)
keep = np.minimum(1, np.sqrt(FREQUENT / np.maximum(counts / counts.sum(), 1e-12)))
keep[SEPARATOR] = 1
ids = ids[np.random.default_rng(0).random(len(ids)) < keep[ids]]

together = sparse.csr_matrix((VOCABULARY, VOCABULARY), dtype=np.float32)
for start in range(0, len(ids), SLICE):
    part = ids[start : start + SLICE]
    line = np.cumsum(part == SEPARATOR)
    pairs = []
    for distance in range(1, WINDOW + 1):
        left, right = part[:-distance], part[distance:]
        both = (line[distance:] == line[:-distance]) & (left > SPECIAL_LAST) & (right > SPECIAL_LAST)
        pairs.append(left[both] * VOCABULARY + right[both])
    pair, times = np.unique(np.concatenate(pairs), return_counts=True)
    cells = (times.astype(np.float32), (pair // VOCABULARY, pair % VOCABULARY))
    together = together + sparse.csr_matrix(cells, shape=(VOCABULARY, VOCABULARY))
together = (together + together.T).tocsr()
together.data[together.data < 2] = 0
together.eliminate_zeros()

rows = np.asarray(together.sum(1)).ravel() + 1
contexts = rows**SMOOTHING
together = together.tocoo()
information = np.log(together.data * contexts.sum() / (rows[together.row] * contexts[together.col]))
positive = information > 0
matrix = sparse.csr_matrix(
    (information[positive].astype(np.float32), (together.row[positive], together.col[positive])),
    shape=(VOCABULARY, VOCABULARY),
)


def as_torch(m):
    return torch.sparse_csr_tensor(
        torch.from_numpy(m.indptr.astype(np.int64)),
        torch.from_numpy(m.indices.astype(np.int64)),
        torch.from_numpy(m.data),
        size=m.shape,
    )


forward, backward = as_torch(matrix), as_torch(matrix.T.tocsr())
start = torch.randn(VOCABULARY, DIMENSIONS + OVERSAMPLING, generator=torch.Generator().manual_seed(0))
basis, _ = torch.linalg.qr(forward @ start)
for _ in range(3):
    back, _ = torch.linalg.qr(backward @ basis)
    basis, _ = torch.linalg.qr(forward @ back)
left, values, _ = torch.linalg.svd((backward @ basis).T, full_matrices=False)
vectors = (basis @ left)[:, :DIMENSIONS] * values[:DIMENSIONS] ** 0.5
np.save(WORK / "ppmi.npy", vectors.numpy())
