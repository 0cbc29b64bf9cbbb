"""Other people's words as references to where they stand, and references as the very words again.

Where a benchmark's text is not ours to publish, every text of a run is stored *quoted*: each stretch of it that stands
in the benchmark's data gives way to a mark that says where. ``⟦s001:t02 5-40⟧`` are the characters 5 to 40 (the first
counted, the last not) of what was said in that turn. What may stand in a mark:

- ``s001:t02`` a turn, ``s001`` the date of a session, ``q ID`` a question, ``t ID`` the time it is asked as of,
  ``k ID answer`` a text of an item's answer key, by its path in the key; signs that could upset a mark are
  percent-encoded in ids;
- then the characters, as ``5-40``; nothing for the whole of it; ``dated`` for a turn as a dated line;
- then ``lower`` or ``upper``, where the text has the same letters in that case;
- before all that ``@ID``, the scenario, where the row does not name one;
- nothing at all for the sign ``⟦`` itself, which begins a mark;
- ``json N`` for how the JSON string that it begins is written, ``text`` for what only looks like JSON.

**What is quoted.** Words are compared without regard to case, punctuation and spaces. Every word that is part of
``LEAST_WORDS`` words in a row that also stand in a row in the scenario's turns, questions or keys is quoted. Three is
as low as it goes without quoting half of everyone's English ("it is", "in the"): a name or two words alone are not
what makes a text someone's. Texts that are shorter than that are quoted where they are all there is (an answer, a
line of a context, a string in a request), and in what is stored of an item its own question and key are quoted however
short they are.

Strings of a row that are shorter than that each, such as a list of words, may make a stretch together. Where what is
left of a row beside its marks still has one, every word in it that the source has is quoted.
"""
