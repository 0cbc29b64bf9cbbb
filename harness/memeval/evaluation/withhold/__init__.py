"""Withholding of benchmark text: replace it in a run by references to the data, and restore it from the data.

If a benchmark's text may not be published, every text of a run is stored *quoted*. Each stretch of words that also
occurs in the benchmark's data is replaced by a mark with its position. ``⟦s001:t02 5-40⟧`` stands for the characters 5
(inclusive) to 40 (exclusive) of that turn. The grammar of a mark:

- ``s001:t02`` a turn; ``s001`` the date of a session; ``q ID`` a question; ``t ID`` the question's time;
  ``k ID answer`` a text of an item's answer key, by its path in the key. Special characters in ids are
  percent-encoded;
- then the characters, as ``5-40``; nothing for the whole text; ``dated`` for a turn as a dated line;
- then ``lower`` or ``upper``, if the text has the same letters in that case;
- before all that ``@ID``, the scenario, if the row does not name one;
- an empty mark stands for the character ``⟦`` itself;
- ``json N`` begins a JSON string and gives its escaping style; ``text`` begins a text that only looks like JSON.

**What is quoted.** Words are compared without case, punctuation and spaces. ``LEAST_WORDS`` consecutive words are
quoted if they are also consecutive in the scenario's turns, questions or keys. With fewer than three words, common
English phrases ("it is", "in the") would be quoted, too; a name or two words do not identify a text. A shorter text is
quoted if it is a complete unit: an answer, a line of a context, a string in a request. In an item's own rows, its
question and key are quoted regardless of length.

Short strings of a row, such as a list of words, can form a stretch together. If the text outside the marks of a row
still contains a stretch, every word that occurs in the source is quoted.
"""
