// The scores of a run, computed from its plan and grades as memeval/grading/scoring.py computes them, sum by sum.

const Z = 1.959963984540054; // the 97.5 % quantile of the normal distribution
const FLAGS = ["context-dump", "hedged", "token-mismatch", "self-reported-tokens", "filter-leak", "other-bank"];
const JUDGE_FAILED = ["unparsed", "judge_error"];

const squared = (value) => value * value;
const clamped = (share) => Math.min(1, Math.max(0, share));
const interval = ([low, high]) => ({ low: clamped(low), high: clamped(high) });
const failed = ({ state }) => state !== "graded" && state !== "empty";
const absent = (reason) => ({ value: null, interval: null, reason });
const sorted = (names) => [...names].sort();
const named = (names, make) => Object.fromEntries(names.map((name) => [name, make(name)]));

/** The scores of a run, in the form of `scores` in run.json; fails with a sentence if the grades do not fit the plan. */
export function scored(plan, grades) {
  const groups = grouped(plan, grades);
  const rules = sorted(new Set(grades.flatMap((grade) => Object.keys(grade.alternates ?? {}))));
  const planned = plan.reduce((sum, category) => sum + category.items, 0);
  const states = {};
  for (const grade of grades) states[grade.state] = (states[grade.state] ?? 0) + 1;
  const plain = grades.filter((grade) => grade.state === "graded" && (grade.answerable ?? true));
  return {
    composite: compositeOf(plan, groups, headline),
    alternates: named(rules, (rule) => alternateComposite(plan, groups, rule)),
    overall: tally(planned, grades, headline),
    categories: plan.map((category) => categoryScore(category, groups.get(category.name))),
    slices: plan.flatMap((category) => slices(category.name, groups.get(category.name))),
    states: { ...states, skipped: planned - grades.length },
    false_hedge_rate: plain.length ? plain.filter((grade) => grade.flags.includes("hedged")).length / plain.length : null,
  };
}

/** The sum of numbers, rounded once, as Python's math.fsum (Shewchuk 1997, "Adaptive precision arithmetic"). */
function exactSum(values) {
  const parts = [];
  for (const value of values) {
    let [x, kept] = [value, 0];
    for (const part of parts) {
      let y = part;
      if (Math.abs(x) < Math.abs(y)) [x, y] = [y, x];
      const high = x + y;
      const low = y - (high - x);
      if (low) parts[kept++] = low;
      x = high;
    }
    parts.length = kept;
    parts.push(x);
  }
  let place = parts.length - 1;
  if (place < 0) return 0;
  let [sum, rest] = [parts[place], 0];
  while (place > 0 && !rest) {
    const x = sum;
    const y = parts[--place];
    sum = x + y;
    rest = y - (sum - x);
  }
  // A half is rounded by what lies below it, not to even.
  if (place > 0 && rest * parts[place - 1] > 0) {
    const rounded = sum + 2 * rest;
    if (2 * rest === rounded - sum) sum = rounded;
  }
  return sum;
}

function grouped(plan, grades) {
  const groups = new Map(plan.map((category) => [category.name, []]));
  const seen = new Set();
  for (const grade of [...grades].sort((a, b) => (a.item_id < b.item_id ? -1 : 1))) {
    if (seen.has(grade.item_id)) throw new Error(`${grade.item_id} has two grades.`);
    if (!groups.has(grade.category)) throw new Error(`${grade.item_id} is in a category that is not planned: ${grade.category}.`);
    seen.add(grade.item_id);
    groups.get(grade.category).push(grade);
  }
  for (const { name, items } of plan) {
    if (groups.get(name).length > items) throw new Error(`${name} has ${groups.get(name).length} grades for ${items} planned items.`);
  }
  return groups;
}

/** What an item is worth by the headline rule: its credit, or its verdict as 1 or 0; null for an error. */
function headline(grade) {
  if (failed(grade)) return null;
  return grade.credit ?? Number(grade.verdict === true);
}

/** What an item is worth by another rule; items without that rule keep their headline credit. */
function alternate(rule) {
  return (grade) => {
    if (!Object.hasOwn(grade.alternates ?? {}, rule) || (failed(grade) && !JUDGE_FAILED.includes(grade.state))) return headline(grade);
    return Number(grade.alternates[rule] ?? 0);
  };
}

/** The grades that another rule counts. */
const counted = (grades, rule) => grades.filter((grade) => grade.alternates?.[rule] !== null);

function tally(planned, grades, worth) {
  const credits = grades.map(worth).filter((value) => value !== null);
  const points = exactSum(credits);
  return {
    planned,
    done: grades.length,
    correct: credits.filter((value) => value === 1).length,
    points: grades.some((grade) => (grade.credit ?? null) !== null) ? points : null,
    errors: grades.length - credits.length,
    accuracy: planned ? points / planned : null,
    interval: planned ? interval(wilson(points, planned)) : null,
    graded_accuracy: credits.length ? points / credits.length : null,
  };
}

function categoryScore(category, grades) {
  const rules = sorted(new Set(grades.flatMap((grade) => Object.keys(grade.alternates ?? {}))));
  const metrics = sorted(new Set(grades.flatMap((grade) => Object.keys(grade.metrics ?? {}))));
  return {
    name: category.name,
    weight: category.weight,
    tally: tally(category.items, grades, headline),
    flags: FLAGS.map((flag) => ({ flag, items: grades.filter((grade) => grade.flags.includes(flag)).length })).filter(({ items }) => items),
    alternates: named(rules, (rule) => {
      const kept = counted(grades, rule);
      return tally(category.items - grades.length + kept.length, kept, alternate(rule));
    }),
    metrics: named(metrics, (metric) => {
      const values = grades.map((grade) => grade.metrics?.[metric] ?? null).filter((value) => value !== null);
      return values.length ? exactSum(values) / values.length : null;
    }),
  };
}

function slices(category, grades) {
  const members = new Map();
  for (const grade of grades) {
    for (const [slice, value] of Object.entries(grade.slices)) {
      const key = JSON.stringify([slice, value]);
      if (!members.has(key)) members.set(key, { slice, value, grades: [] });
      members.get(key).grades.push(grade);
    }
  }
  const order = (a, b) => (a.slice === b.slice ? a.value < b.value : a.slice < b.slice) ? -1 : 1;
  return [...members.values()].sort(order).map((one) => (
    { category, slice: one.slice, value: one.value, tally: tally(one.grades.length, one.grades, headline) }));
}

function alternateComposite(plan, groups, rule) {
  const kept = new Map(Array.from(groups, ([name, grades]) => [name, counted(grades, rule)]));
  const items = (category) => category.items - groups.get(category.name).length + kept.get(category.name).length;
  const shared = plan.filter((category) => category.shared).reduce((sum, category) => sum + items(category), 0);
  const smaller = plan.filter((category) => items(category) || !category.shared).map((category) => (
    { ...category, items: items(category), weight: category.shared && shared ? items(category) / shared : category.weight }));
  return compositeOf(smaller, kept, alternate(rule));
}

/** The composite with its interval, by square-and-add of Wilson's limits, widened by the design effect. */
function compositeOf(plan, groups, worth) {
  const counting = plan.filter((category) => category.weight);
  for (const { name, items } of counting) {
    if (items === 0) return absent(`There are no items in ${name}.`);
    if (groups.get(name).length < items) return absent(`${name} has ${groups.get(name).length} of ${items} items.`);
  }
  if (!counting.length) return absent("There are no categories.");
  const shared = counting.filter((one) => one.shared).reduce((sum, one) => sum + groups.get(one.name).length, 0);
  const layout = counting.map((one) => {
    const grades = groups.get(one.name);
    const values = grades.map((grade) => worth(grade) ?? 0);
    const total = exactSum(values);
    return { weight: one.shared ? grades.length / shared : one.weight, values, total, share: total / values.length, clusters: grades.map((grade) => grade.cluster) };
  });
  const value = exactSum(layout.map(({ weight, total, values }) => (weight * total) / values.length));
  const effect = designEffect(layout);
  if (effect === null) return { value: clamped(value), interval: null, reason: null };
  let [below, above] = [0, 0];
  for (const { weight, total, values, share } of layout) {
    const [low, high] = wilson(total, values.length);
    below += squared(weight * (share - low));
    above += squared(weight * (high - share));
  }
  const widening = Math.sqrt(Math.max(1, effect));
  return {
    value: clamped(value),
    interval: interval([value - widening * Math.sqrt(below), value + widening * Math.sqrt(above)]),
    reason: null,
  };
}

/** The factor by which clusters multiply the variance of the composite; null for one cluster. */
function designEffect(layout) {
  const totals = new Map();
  for (const { clusters } of layout) for (const cluster of clusters) totals.set(cluster, 0);
  if (totals.size < 2) return null;
  const independent = exactSum(layout.map(({ weight, values, share }) => (squared(weight) * share * (1 - share)) / values.length));
  if (independent === 0) return 1;
  for (const { weight, clusters, values, share } of layout) {
    const step = weight / values.length;
    values.forEach((value, place) => totals.set(clusters[place], totals.get(clusters[place]) + step * (value - share)));
  }
  const variance = (totals.size / (totals.size - 1)) * exactSum([...totals.values()].map((total) => total * total));
  const items = layout.reduce((sum, { values }) => sum + values.length, 0);
  return variance / ((independent * items) / (items - 1));
}

/** Wilson's 95 % interval of a share (Wilson 1927). */
function wilson(correct, n) {
  const p = correct / n;
  const z2 = Z * Z;
  const centre = p + z2 / (2 * n);
  const half = Z * Math.sqrt((p * (1 - p)) / n + z2 / (4 * n * n));
  const scale = 1 + z2 / n;
  return [correct === 0 ? 0 : Math.max(0, (centre - half) / scale), correct === n ? 1 : Math.min(1, (centre + half) / scale)];
}
