"""Logistic regression with an L2 penalty for few documents: Newton's method over their inner products. Pure."""

import numpy as np
import numpy.typing as npt

__all__ = ["fit_logistic"]

Vector = npt.NDArray[np.float64]

PENALTY = 0.05
STEPS = 25


def fit_logistic(gram: Vector, y: Vector, importance: Vector) -> tuple[Vector, float]:
    """Dual weights and bias; classes count the same however many documents they have.

    `gram` holds the inner products of the documents, `y` 1 or 0, `importance` what each counts inside its class.
    A document d then scores sigmoid(Σ dual_i · <d, d_i> + bias).
    """
    n = len(y)
    positive, negative = float(importance[y > 0].sum()), float(importance[y <= 0].sum())
    if positive == 0.0 or negative == 0.0:
        return np.zeros(n), 0.0
    total = positive + negative
    weight = importance * np.where(y > 0, total / (2 * positive), total / (2 * negative))
    system = np.zeros((n + 1, n + 1))
    system[:n, :n] = gram
    system[:n, n] = system[n, :n] = 1.0
    diagonal = np.arange(n)
    own = np.diag(gram).copy()
    score, dual, bias = np.zeros(n), np.zeros(n), 0.0
    for _ in range(STEPS):
        p = 1.0 / (1.0 + np.exp(-np.clip(score, -50, 50)))
        curvature = np.maximum(weight * p * (1 - p), 1e-6)
        system[diagonal, diagonal] = own + PENALTY / curvature
        solved = np.linalg.solve(system, np.append(score + weight * (y - p) / curvature, 0.0))
        dual, bias = solved[:n], float(solved[n])
        before, score = score, gram @ dual + bias
        if float(np.abs(score - before).max()) < 1e-3:
            break
    return dual, bias
