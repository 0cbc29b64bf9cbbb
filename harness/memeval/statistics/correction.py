"""Shares estimated from a stratified sample, and shares corrected for the errors of a grader."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from memeval.statistics.intervals import Z, wilson


@dataclass(frozen=True)
class Estimate:
    value: float
    low: float
    high: float


@dataclass(frozen=True)
class SampledShare:
    estimate: Estimate
    rows: int
    effective: float
    """Size of a simple random sample with the same variance; at most ``rows``."""


@dataclass(frozen=True)
class DrawnRows:
    rows: int
    counted: tuple[bool, ...]
    """For each drawn row, whether it is in the denominator of a share."""
    hits: tuple[bool, ...]
    """For each drawn row, whether it is in the numerator. Only counted rows matter."""


def sampled_share(strata: Sequence[DrawnRows]) -> SampledShare | None:
    """Return the share of hits among the counted rows of a population, from a stratified random sample.

    The estimate is the ratio ``R = Σ_h w_h a_h / Σ_h w_h b_h``: ``a_h`` hits and ``b_h`` counted rows of ``n_h`` drawn
    ones, and ``w_h = N_h / n_h``. Its variance is that of the linearised ratio, with the correction for a finite
    population (Cochran 1977, "Sampling Techniques", 3rd edition, sections 5A.3 and 6.11)::

        var = Σ_h N_h² (1 - n_h/N_h) s_h² / n_h / (Σ_h w_h b_h)²,  s_h² the variance of y - R x in the stratum

    The interval is Wilson's for the effective number of rows ``R (1 - R) / var``, at most the drawn counted rows (Korn
    and Graubard 1998, "Confidence intervals for proportions with small expected number of positive counts estimated
    from survey data", Survey Methodology 24).

    ``strata``: the strata. One without drawn rows is left out: the share then describes the other strata. Returns:
    ``None`` if no drawn row is counted.
    """
    known = [each for each in strata if each.counted]
    drawn = sum(sum(each.counted) for each in known)
    if not drawn:
        return None
    below = math.fsum(each.rows / len(each.counted) * sum(each.counted) for each in known)
    above = math.fsum(
        each.rows / len(each.counted) * sum(map(all, zip(each.hits, each.counted, strict=True))) for each in known
    )
    share = min(1.0, above / below)
    variance = math.fsum(_variance(each, share) for each in known) / below**2
    effective = min(drawn, share * (1 - share) / variance) if variance > 0 else float(drawn)
    low, high = wilson(min(effective, share * effective), effective)
    return SampledShare(Estimate(share, low, high), drawn, effective)


def _variance(stratum: DrawnRows, share: float) -> float:
    """Return the variance of the stratum's total of ``y - R x``.

    A single drawn row of several has no variance of its own: its square about 0 stands for it.
    """
    size = len(stratum.counted)
    rest = [
        (float(hit) - share) if counted else 0.0 for hit, counted in zip(stratum.hits, stratum.counted, strict=True)
    ]
    mean = math.fsum(rest) / size if size > 1 else 0.0
    spread = math.fsum((each - mean) ** 2 for each in rest) / max(1, size - 1)
    return stratum.rows * max(0, stratum.rows - size) * spread / size


def corrected_share(share: float, rows: int, specificity: SampledShare, sensitivity: SampledShare) -> Estimate | None:
    """Return the share of right answers behind the share that a grader calls right, with a 95 % interval.

    ``θ = (p + q0 - 1) / (q0 + q1 - 1)`` (Rogan and Gladen 1978), with an interval that covers the uncertainty of all
    three shares (Lang and Reiczigel 2014; Lee and others 2025, "How to Correctly Report LLM-as-a-Judge Evaluations",
    arXiv 2511.21140)::

        p', n' = (n p + z²/2) / (n + z²), n + z²        q', m' = (m q + 1) / (m + 2), m + 2
        θ' + 2 z² (θ' q1'(1 - q1')/m1' - (1 - θ') q0'(1 - q0')/m0') ± z se
        se = sqrt(p'(1 - p')/n' + (1 - θ')² q0'(1 - q0')/m0' + θ'² q1'(1 - q1')/m1') / (q0' + q1' - 1)

    Returns: ``None`` unless sensitivity + specificity - 1 is clearly above 0: the grader then tells right from wrong.
    """
    q0, m0 = specificity.estimate.value, specificity.effective
    q1, m1 = sensitivity.estimate.value, sensitivity.effective
    if not tells_apart(specificity, sensitivity):
        return None
    n = rows + Z**2
    p = (rows * share + Z**2 / 2) / n
    smooth0, smooth1 = (m0 * q0 + 1) / (m0 + 2), (m1 * q1 + 1) / (m1 + 2)
    scale = smooth0 + smooth1 - 1
    if scale <= 0:
        return None
    centre = (p + smooth0 - 1) / scale
    error0, error1 = smooth0 * (1 - smooth0) / (m0 + 2), smooth1 * (1 - smooth1) / (m1 + 2)
    shift = 2 * Z**2 * (centre * error1 - (1 - centre) * error0)
    half = Z * math.sqrt(p * (1 - p) / n + (1 - centre) ** 2 * error0 + centre**2 * error1) / scale
    return Estimate(
        _clipped((share + q0 - 1) / (q0 + q1 - 1)), _clipped(centre + shift - half), _clipped(centre + shift + half)
    )


def tells_apart(specificity: SampledShare, sensitivity: SampledShare) -> bool:
    """Return whether sensitivity + specificity - 1 is above 0, at 95 % by the normal approximation."""
    q0, q1 = specificity.estimate.value, sensitivity.estimate.value
    error = q0 * (1 - q0) / specificity.effective + q1 * (1 - q1) / sensitivity.effective
    return q0 + q1 - 1 - Z * math.sqrt(error) > 0


def _clipped(value: float) -> float:
    return max(0.0, min(1.0, value))


def equal_shares(shares: Sequence[SampledShare]) -> float | None:
    """Return the p-value of equal shares in several groups of a sample.

    Pearson's test of homogeneity over effective numbers of rows (Rao and Scott 1981, "The Analysis of Categorical Data
    from Complex Sample Surveys", JASA 76): ``Σ n (p - p̄)² / (p̄ (1 - p̄))`` has a chi-squared distribution with one
    degree of freedom less than there are groups.

    Returns: ``None`` with fewer than two groups, or if all shares are 0 or all are 1.
    """
    total = math.fsum(each.effective for each in shares)
    if len(shares) < 2 or not total:
        return None
    mean = math.fsum(each.effective * each.estimate.value for each in shares) / total
    if not 0 < mean < 1:
        return None
    squares = math.fsum(each.effective * (each.estimate.value - mean) ** 2 for each in shares)
    return chi_squared_tail(squares / (mean * (1 - mean)), len(shares) - 1)


def chi_squared_tail(value: float, freedom: int) -> float:
    """Return the probability that a chi-squared variable is above a value.

    A finite sum for whole degrees of freedom: ``Q(1) = erfc(sqrt(x/2))``, ``Q(2) = exp(-x/2)``, and
    ``Q(k + 2) = Q(k) + (x/2)^(k/2) exp(-x/2) / Γ(k/2 + 1)`` (Abramowitz and Stegun 1964, 26.4.8).

    ``freedom``: degrees of freedom, at least 1.
    """
    half = value / 2
    tail = math.erfc(math.sqrt(half)) if freedom % 2 else math.exp(-half)
    for degree in range(1 if freedom % 2 else 2, freedom, 2):
        if half:
            tail += math.exp(degree / 2 * math.log(half) - half - math.lgamma(degree / 2 + 1))
    return min(1.0, tail)
