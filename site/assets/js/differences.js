// Numbers that differ between two records of the same form, by name.

const DIGITS = 12;

/** The differences: name, stated and recomputed value. A missing field counts as an empty one. */
export function differences(stated, found, name = "") {
  if (isEmpty(stated) && isEmpty(found)) return [];
  if (isBranch(stated) && isBranch(found)) {
    const left = branches(stated);
    const right = branches(found);
    return [...new Set([...left.keys(), ...right.keys()])].flatMap((key) => (
      differences(left.get(key), right.get(key), name ? `${name} › ${key}` : key)));
  }
  return equal(stated, found) ? [] : [{ name, stated, found }];
}

function isEmpty(value) {
  return value === null || value === undefined || (isBranch(value) && Object.keys(value).length === 0);
}

function isBranch(value) {
  return typeof value === "object" && value !== null;
}

/** Python and browsers may round the last of 17 digits in another way, so 12 are compared. */
function equal(stated, found) {
  if (typeof stated !== "number" || typeof found !== "number") return stated === found;
  return stated === found || stated.toPrecision(DIGITS) === found.toPrecision(DIGITS) || Math.abs(stated - found) < 10 ** -DIGITS;
}

/** The parts of a list or record by name: a category by its name, a slice by its property and value. */
function branches(value) {
  if (!Array.isArray(value)) return new Map(Object.entries(value));
  return new Map(value.map((one, place) => [label(one) ?? String(place), one]));
}

function label(one) {
  if (!isBranch(one)) return null;
  if (one.slice) return `${one.category}, ${one.slice} ${one.value}`;
  return one.name ?? one.flag ?? null;
}
