"""Words for the talk that long histories are filled with: details of errands, with names made of syllables.

Names are drawn from some hundred thousand, so that new words go on turning up in a history of any length.
"""

from __future__ import annotations


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


DETAILS = (
    "The {adj} {noun} from {place} is still {spot}.",
    "{friend} from {place} keeps asking me about the {noun}.",
    "{friend} and I share the {noun}, so it isn't only about me.",
    "It has to be done before {day}, {friend} wants the {noun} back.",
    "Last {day} in {place} I lost the {noun} and came home with a {adj} {other}.",
    "There are {number} of us, and {friend} brings the {noun}.",
    "I left the {noun} {spot}, next to {friend}'s {adj} {other}.",
    "In {place} they told me to mind the {noun}.",
    "{friend} says the {noun} is too {adj} for it.",
    "I paid {number} for the {other} in {place}, and the {noun} was thrown in.",
    "The last time, {friend} dropped the {noun} on the way to {place}.",
    "My only day for it is {day}, the {noun} goes to {place} after that.",
    "{friend} wrote from {place} that the {noun} had turned {adj}.",
    "Without {friend} I wouldn't even know where the {noun} is.",
    "Half of {place} seems to be looking for a {adj} {noun}.",
    "I once saw {number} of them {spot} in {place}.",
)
"""What somebody adds to a request."""

REMARKS = (
    "In {place} people take a {adj} {noun} for it.",
    "If the {noun} looks {adj}, wait until {day}.",
    "I'd ask {friend} about the {noun} first.",
    "A {adj} {noun} costs about {number} in most shops.",
    "Put the {noun} {spot}, then the {other} can stay where it is.",
    "{friend} may know somebody in {place} with a spare {noun}.",
    "Count to {number}, and turn the {noun} over.",
    "The {other} matters less than the {noun} does.",
    "By {day} the {noun} should be {adj} again.",
    "Mind that the {noun} from {place} tends to be {adj}.",
    "Give {friend} the {noun} and keep the {other} for yourself.",
    "With {number} of them, one {adj} {noun} is enough.",
)
"""What the assistant adds to a reply."""

ADJECTIVES = _words(
    "battered brittle bulky careworn cheap clumsy copper crooked crumpled damp dented dusty faded flimsy folding "
    "foreign fragile freckled glossy golden grainy greasy handmade heavy hollow hooded jagged knobbly leaky limp "
    "lopsided lukewarm marbled matching mended mottled muddy narrow nameless padded painted pale patched plain plump "
    "polished porous portable rattling rickety rounded rusty scratched scuffed second-hand shabby shallow shiny "
    "slanted slender slippery soggy spare speckled spotless square stained stiff striped sturdy tangled tattered "
    "threadbare tilted tiny tinted twisted varnished velvet wafer-thin warped waxed weathered worn wrinkled"
)

NOUNS = _words(
    "atlas awning banner barometer basin basket battery beaker bellows bench blanket blinds bolster bookend "
    "bracket briefcase broom brush bucket buckle bulb bunting cabinet cable calendar candlestick canopy canvas "
    "carafe casket chandelier charger chisel clamp clasp cloak clothesline coaster colander compass cord corkscrew "
    "counter crate crowbar curtain cushion decanter dial dispenser doorbell doormat doorstop drawer dustpan easel "
    "envelope eraser extension fan faucet fender filter flagpole flask flowerpot folder footstool frame funnel fuse "
    "gasket globe gong grater gutter hamper handrail hanger hatbox hinge hook hourglass ironing-board jug "
    "kettle keyring label lacquer ladder ladle lampshade lantern lathe latch ledger lever lid lining lock locket "
    "magnet mallet manual marble mat metronome mirror mould mug nail needle notepad nozzle padlock paddle padding "
    "pail palette pan parasol parcel paste pedestal peg pendulum pennant pliers plinth plug pouch propeller pulley "
    "pump puppet rack radiator rake ramp receipt register ribbon ring rivet rope rug ruler sachet saddle "
    "scaffold scarf scissors screen screw seal shelf shovel shutter sieve skewer sled snow-globe socket spade spanner "
    "sponge spool spring stamp staple stencil stopwatch strap switch tablecloth tape tarpaulin teapot "
    "thermometer thimble ticket tile timer token tongs torch towel tray tripod trowel trunk tub twine "
    "umbrella urn valve varnish vase veil wallet washbasin washer wedge weight wheelbarrow whisk whistle wick wrench"
)

SPOTS = (
    "behind the door", "in the stairwell", "under the sink", "at the reception", "on the windowsill", "in the boot",
    "on top of the wardrobe", "beside the bins", "at the lost property office", "in the wrong box", "under a blanket",
    "by the back entrance", "on the landing", "in a plastic bag", "between two chairs", "at the repair shop",
    "behind the curtain", "in the hallway", "on the upper shelf", "outside in the rain",
)  # fmt: skip

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

NUMBERS = (
    "three", "four", "five", "seven", "nine", "eleven", "thirteen", "fourteen", "sixteen", "nineteen", "twenty-two",
    "twenty-six", "thirty-one", "thirty-four", "forty", "forty-seven", "fifty-two", "sixty", "seventy-eight", "ninety",
)  # fmt: skip

FIRST = _words(
    "Bar Bel Bor Bra Cal Cor Dar Del Dra Dun Eld Fal Fen Fro Gar Gel Gri Hal Hes Hol Irm Jar Jes Kal Kes Kor Lam Lor "
    "Lun Mar Mel Mor Nar Nes Nol Orl Pel Per Pro Quo Ral Res Ros Sal Sel Sor Tal Tes Tor Ulm Val Ves Vor Wal Wen Wol "
    "Yar Yel Zan Zel"
)
MIDDLE = _words(
    "a e i o u ba be bi da di do ga ge go la le li lo ma me mi na ne no ra re ri ro sa se so ta te ti va ve vi"
)
LAST = _words(
    "bek bin das den dra fen fin gan gar gor ken kin las len lin lor man mas min nas nel nor ran ras rik rin ros san "
    "sen sin tan tar tas tin tor van vas ven vin zan"
)
"""Syllables of names."""

PLACES = ("stead", "wick", "ford", "bury", "combe", "thorpe", "mere", "field", "haven", "gate", "mouth", "ley")
"""What the names of places end in."""
