"""phi and rho written out token by token and corner by corner in NumPy: nothing shared with the engines."""

import itertools

import numpy as np


def brute_force(slots, fractions, offsets, calibration, vertices, sizes, subsets, upstream):
    """Return means (B, K) and the gradients of sum(upstream * means) by calibration and vertices."""
    n_outputs, n_slots = calibration.shape
    means = np.zeros((len(offsets) - 1, n_outputs))
    grad_calibration, grad_vertices = np.zeros_like(calibration), np.zeros_like(vertices)
    for b, k in itertools.product(range(len(offsets) - 1), range(n_outputs)):
        n_tokens = offsets[b + 1] - offsets[b]
        for t in range(offsets[b], offsets[b + 1]):
            share = 1.0 / (n_tokens * len(subsets))
            first = 0
            for subset in subsets:
                shape = tuple(sizes[d] for d in subset)
                lattice = vertices[k, first : first + int(np.prod(shape))].reshape(shape)
                cells, within, slopes = [], [], []
                for d in subset:
                    slot, fraction = slots[d, t], fractions[d, t]
                    above = calibration[k, slot + 1] if slot + 1 < n_slots else calibration[k, slot]
                    value = calibration[k, slot] + fraction * (above - calibration[k, slot])
                    inside = 0 <= value <= 1
                    coordinate = min(max(value, 0.0), 1.0) * (sizes[d] - 1)
                    cell = next(c for c in range(sizes[d] - 1) if coordinate < c + 1 or c == sizes[d] - 2)
                    cells.append(cell)
                    within.append(coordinate - cell)
                    slopes.append((sizes[d] - 1) * inside)
                for corner in itertools.product((0, 1), repeat=len(subset)):
                    vertex = tuple(c + o for c, o in zip(cells, corner, strict=True))
                    weights = [w if o else 1 - w for w, o in zip(within, corner, strict=True)]
                    means[b, k] += share * np.prod(weights) * lattice[vertex]
                    place = first + np.ravel_multi_index(vertex, shape)
                    grad_vertices[k, place] += upstream[b, k] * share * np.prod(weights)
                    for i, d in enumerate(subset):
                        others = np.prod(weights[:i] + weights[i + 1 :])
                        sign = 1 if corner[i] else -1
                        gradient = upstream[b, k] * share * others * sign * lattice[vertex] * slopes[i]
                        slot, fraction = slots[d, t], fractions[d, t]
                        grad_calibration[k, slot] += gradient * (1 - fraction)
                        grad_calibration[k, min(slot + 1, n_slots - 1)] += gradient * fraction
                first += int(np.prod(shape))
    return means, grad_calibration, grad_vertices


def brute_force_rho(means, calibrators, vertices, output):
    """Return the outputs (B, C) of means (B, C * K), set by set and corner by corner."""
    keypoints = np.linspace(-1, 1, output.shape[1])
    width = len(calibrators) // len(output)
    outputs = np.zeros((len(means), len(output)))
    for b, c in itertools.product(range(len(means)), range(len(output))):
        rows = range(c * width, (c + 1) * width)
        places = [np.clip(np.interp(means[b, r], keypoints, calibrators[r]), 0, 1) for r in rows]
        fused = 0.0
        for vertex, corner in enumerate(itertools.product((0, 1), repeat=width)):
            weights = [p if high else 1 - p for p, high in zip(places, corner, strict=True)]
            fused += np.prod(weights) * vertices[c, vertex]
        outputs[b, c] = np.interp(fused, keypoints, output[c])
    return outputs
