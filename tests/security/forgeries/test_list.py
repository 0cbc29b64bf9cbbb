"""Every forgery that *What this proves* lists is tried by a test, or is somebody's word where readers see it."""

import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]

LIST: dict[str, str] = {
    # The track
    "Items left out": "test_a_shrunk_plan_is_found",
    "Weights, graders, limits": "test_a_changed_track_is_found_and_the_part_named",
    "Reader `extractive` declared": "test_a_reader_that_is_denied_is_found",
    "Other data, or another seed": "test_another_seed_of_a_generated_benchmark_is_found",
    "The data of a benchmark is not on": "test_data_that_is_not_here_is_not_called_checked",
    "Rows of one benchmark as": "test_only_a_run_on_a_rebuilt_track_is_ranked_whatever_data_is_here",
    "Other data than the catalogue": "test_only_a_run_on_a_rebuilt_track_is_ranked_whatever_data_is_here",
    "A track that no maintainer rebuilt": "test_the_line_of_a_reproduced_run_is_void_for_other_bytes",
    # The rows
    "Expected answers under an offline": "test_right_answers_under_an_offline_reader_are_found",
    "Context tokens edited": "test_edited_context_tokens_are_counted_again",
    "Contexts left out": "test_dropped_contexts_are_found_where_a_reader_read",
    "A second attempt": "test_a_second_attempt_after_a_good_one_is_found",
    "Items of another scenario": "test_rows_that_are_not_those_of_the_plan_are_found",
    "The failure analysis": "test_rows_are_analysed_once_and_any_other_row_is_analysed_again",
    "A verdict edited": "test_regrading_detects_a_consistent_forgery",
    "The run id, the start": "test_clocks_that_contradict_each_other_are_found",
    "Durations divided by 100": "said by the submitter",
    "All clocks and the run id": "test_clocks_that_were_all_set_back_are_the_runners_word",
    "Expected answers of a system that writes": "the word of whoever ran it",
    "Answers of a run that does not exist": "test_a_run_whose_answers_are_those_of_an_absent_run_is_not_ranked",
    "Answers of another system's run": "test_answers_of_a_run_of_another_system_are_found",
    "Another text under the digest": "test_another_text_under_the_digest_of_a_context_is_found",
    "Two million rows": "test_a_file_with_more_rows_than_its_head_says_is_read_no_further",
    "A head that states": "test_a_head_that_states_more_rows_than_its_plan_can_have_is_refused_before_they_are_read",
    "A named pipe": "test_a_named_pipe_in_the_place_of_a_file_is_refused",
    "A symlink in the place": "test_a_symlink_to_the_rows_of_another_run_is_refused",
    "One run in a second folder": "test_one_run_in_two_folders_is_found",
    "One bit of the journal": "test_any_flipped_bit_is_found_with_file_and_line",
    # The system
    "The oracle control as a submission": "test_the_oracle_relabelled_as_a_submission_is_found",
    "The same, with a made-up digest": "test_a_control_under_another_name_is_a_copy_of_the_control",
    "A submission as the control": "test_a_submission_relabelled_as_a_control_is_found",
    "A control with other answers": "test_a_lower_baseline_is_found",
    "A mock that says": "test_a_mock_that_is_denied_is_found",
    "Version, methods, models": "test_every_other_edited_field_is_found",
    "The licence of the product": "test_another_licence_of_the_product_is_found",
    "Answers of one system under another name": "test_answers_of_one_system_under_another_name_have_no_rank",
    "A repetition that is a copy": "test_a_repetition_with_shifted_or_scaled_clocks_is_a_copied_run",
    "A copy with every duration": "the word of whoever ran it",
    "A copy with scores changed": "test_a_copy_has_no_rank_unless_its_scores_and_its_clocks_were_made_up",
    "A copy whose scores and clocks": "test_a_copy_has_no_rank_unless_its_scores_and_its_clocks_were_made_up",
    "The contexts of the oracle": "test_a_run_not_below_the_oracle_control_is_marked_and_ranked",
    "A copy with other source ids": "test_a_copy_with_other_ids_or_another_order_is_marked",
    "A repetition that carries": "test_a_run_that_carries_over_the_rows_of_another_is_no_repetition_of_it",
    "A made-up name, version": "test_a_run_whose_source_is_neither_shipped_nor_stored_is_not_ranked",
    "A newer, worse run": "test_a_newer_run_that_nobody_accepted_stands_beside_the_accepted_one",
    "A name of 200": "test_a_name_without_a_limit_or_that_reverses_text_is_refused",
    "A name with letters": "test_a_name_with_letters_that_look_like_others_is_refused",
    "A submission that declares": "test_a_submission_cannot_declare_more_memory_than_machines_have",
    "Imported answers that state": "test_answers_made_elsewhere_are_not_ranked_whatever_their_file_says",
    "A stored source": "test_stored_files_that_were_changed_are_found",
    "Commit, command line": "said by the submitter",
    # Models
    "The judge's replies": "test_flipped_replies_are_replayed_and_a_sample_finds_them",
    "The judge's endpoint": "test_the_named_endpoint_is_asked_and_disagrees",
    "Recorded judgments removed": "test_a_missing_judgment_is_found_by_reproduce",
    "Calls declared as paid": "test_a_call_that_the_named_run_does_not_have_is_found",
    "An invented price list": "test_an_unknown_price_list_is_found",
    "Fewer tokens": "test_fewer_tokens_in_a_stored_reply_are_the_runners_word",
    "Tokens that only the system": "self-reported",
    # Scores that could be bought
    "Long first contexts": "test_shaped_contexts_earn_no_context_efficiency",
    "A context that a system reports": "test_a_context_that_the_system_reports_is_marked_and_never_a_measurement",
    "Doubt before every answer": "test_doubt_before_every_answer_wins_the_published_score_and_not_the_corrected_one",
    "Rules written from": "test_what_only_a_control_with_the_answer_key_gets_right_is_not_easy",
    # Ledger, releases and pages
    "Lines of the ledger cut": "test_a_ledger_cut_after_a_release_is_found",
    "A line edited, swapped": "test_a_rewritten_chain_has_bad_signatures",
    "Everything signed again": "test_everything_signed_again_with_a_fresh_key_is_signed_by_an_unknown_key",
    "A half-written last line": "test_a_half_written_released_line_is_found",
    "A row of a release": "test_an_edited_row_is_found_by_the_state",
    "The file of a release": "test_a_deleted_release_is_named_by_the_ledger",
    "A page, data file": "test_one_flipped_bit_in_a_published_file_is_found",
    "The wheel of a published": "test_one_flipped_bit_in_a_published_file_is_found",
    "A cell of a matrix": "test_a_results_folder_with_matrices_is_verified_with_them",
    "Rows of two runs": "test_rows_of_two_runs_that_were_swapped_in_the_archive_are_named",
    "A pull request with": "test_nothing_stored_may_change",
    "A conformance report": "test_a_report_that_contradicts_itself_is_found",
    "An audit of the rules": "test_an_edited_audit_of_the_rules_is_found",
    "An unsigned ledger": "not signed",
    "A `CNAME`": "test_what_does_not_belong_around_the_versions_is_found",
    "Every verdict of a file": "test_turned_verdicts_are_found_with_the_published_file_and_named_without",
    "Each row of a file": "test_rows_counted_twice_are_found_with_the_published_file",
}
"""By the first words of a row: the test that tries the forgery, or what a reader sees."""


def rows() -> list[str]:
    text = (ROOT / "site" / "proof.md").read_text("utf-8")
    found = re.findall(r"^\| (.+?) \|", text, flags=re.M)
    return [row for row in found if row not in ("Forgery", "Attempt")]


@cache
def texts(*folders: str) -> str:
    files = (path for folder in folders for path in (ROOT / folder).rglob("*") if path.suffix in (".py", ".html"))
    return "\n".join(path.read_text("utf-8") for path in files)


def test_sixty_forgeries_are_listed_each_once() -> None:
    listed = rows()
    assert len(listed) >= 60
    assert [row for row in listed if sum(row.startswith(start) for start in LIST) != 1] == []
    assert [start for start in LIST if not any(row.startswith(start) for row in listed)] == []


@pytest.mark.parametrize("start", LIST)
def test_a_listed_forgery_is_tried_by_a_test_or_is_the_word_of_somebody_whom_readers_see(start: str) -> None:
    what = LIST[start]
    if what.startswith("test_"):
        assert f"def {what}(" in texts("tests")
    else:
        assert what in texts("harness/memeval", "templates")
