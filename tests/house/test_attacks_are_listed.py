"""SECURITY.md and the tests say the same: every row has tests that try it, and every test a row."""

from __future__ import annotations

import ast
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

ATTACKS = "tests/web/security/test_attacks.py"
ROLES = "tests/web/security/test_roles.py"
SIGN_IN = "tests/web/security/test_sign_in.py"
WAYS = "tests/web/security/test_ways_in.py"
OPENID = "tests/web/security/test_openid.py"
WEBHOOK = "tests/web/security/test_webhook_address.py"
ALERTS = "tests/web/security/test_alerts.py"
HARDENING = "tests/web/test_hardening.py"
SLOW = "tests/process/test_slow_clients.py"
TOKENS = "tests/api/test_tokens.py"

#: Which tests try which row.
TRIED = {
    1: [(ATTACKS, "who_has_not_come_in_is_shown_no_page_at_all"),
        (SIGN_IN, "who_has_not_come_in_sees_nothing_of_the_queues")],
    2: [(ATTACKS, "who_has_not_come_in_changes_nothing_anywhere")],
    3: [(ATTACKS, "no_way_of_writing_an_address_leads_past_the_sign_in")],
    4: [(ATTACKS, "no_header_leads_past_the_sign_in"), (ATTACKS, "a_get_never_becomes_a_post"),
        (WAYS, "nobody_else_can_say_it"), (WAYS, "a_forwarded_address_is_no_address_of_a_proxy"),
        (WAYS, "a_name_that_nobody_may_have_is_nobody"),
        (HARDENING, "no_header_breaks_an_answer"),
        (HARDENING, "a_host_that_is_no_name_is_refused")],
    5: [(SIGN_IN, "after_some_attempts_even_the_right_password_has_to_wait"),
        (SIGN_IN, "attempts_with_many_names_count_together"),
        (SIGN_IN, "attempts_from_all_addresses_of_a_network_count_together"),
        (SIGN_IN, "another_address_is_not_locked_out_by_the_first"),
        (SIGN_IN, "where_nobody_can_count_nobody_signs_in")],
    6: [(SIGN_IN, "a_wrong_name_and_a_wrong_password_are_told_the_same")],
    7: [(ATTACKS, "a_session_cannot_be_forged"), (ATTACKS, "a_session_holds_no_role_that_counts"),
        (SIGN_IN, "the_cookie_is_kept_from_scripts_and_other_sites"),
        (SIGN_IN, "a_session_ends_for_every_copy_of_its_cookie"),
        (SIGN_IN, "a_session_ends_where_nothing_is_done_and_lives_where_something_is"),
        (SIGN_IN, "a_session_ends_after_its_longest_time_in_any_case"),
        (SIGN_IN, "a_stream_of_somebody_who_signed_in_ends_to_ask_anew"),
        (SIGN_IN, "sessions_outlive_a_new_key_as_long_as_the_old_one_is_there")],
    8: [(ATTACKS, "to_sign_in_makes_another_session_than_one_that_was_given")],
    9: [(TOKENS, "without_a_token_that_somebody_has_nothing_is_read_or_done"),
        (TOKENS, "every_token_is_compared_and_in_constant_time"),
        (WAYS, "a_wrong_token_does_not_fall_back_to_a_session")],
    10: [(ATTACKS, "another_site_sends_no_form_anywhere"),
         (HARDENING, "changes_come_from_the_same_scheme_host_and_port")],
    11: [(ATTACKS, "another_name_of_this_host_shows_nothing")],
    12: [(ATTACKS, "no_action_leads_to_another_site"), (SIGN_IN, "next_leads_nowhere_else"),
         (OPENID, "next_leads_nowhere_else")],
    13: [("tests/web/test_whole_console.py", "every_answer_carries_the_headers_that_protect_it"),
         ("tests/web/test_whole_console.py", "pages_load_nothing_from_elsewhere")],
    14: [(ROLES, "an_action_is_done_for_those_alone_who_may"),
         (ROLES, "every_address_that_takes_a_post_is_known_here")],
    15: [(ROLES, "somebody_may_be_limited_to_some_queues"),
         (ROLES, "somebody_may_be_limited_to_some_actions")],
    16: [(SIGN_IN, "who_is_removed_or_gets_another_password_or_role_is_so_at_once")],
    17: [(ATTACKS, "markup_in_any_field_is_text_on_every_page"),
         (ATTACKS, "markup_in_a_topic_is_text_in_the_stream"),
         (ATTACKS, "markup_that_is_sent_comes_back_as_text"),
         (ALERTS, "slack_gets_a_text_in_which_nothing_is_a_mention"),
         ("tests/web/views/test_markup_in_names.py", "b06_markup_in_any_field_is_text")],
    18: [(HARDENING, "a_topic_that_redis_cannot_be_asked_for_is_refused"),
         ("tests/web/actions/test_failures.py", "b09_a_group_of_any_name_is_the_one_acted_on")],
    19: [(ATTACKS, "no_search_breaks_or_holds_the_console")],
    20: [(ATTACKS, "a_body_made_to_explode_does_not"),
         (ATTACKS, "a_form_of_too_many_fields_or_bytes_is_refused")],
    21: [(SLOW, "pages_answer_again_whatever_clients_leave_unfinished"),
         (SLOW, "a_client_that_sends_a_byte_now_and_then_is_slow_too"),
         (SLOW, "no_thread_waits_for_what_does_not_come"),
         (SLOW, "clients_that_do_not_hang_up_keep_nobody_waiting"),
         (SLOW, "clients_that_do_not_read_their_answers_keep_nobody_waiting")],
    22: [(ATTACKS, "an_address_that_changes_things_too_fast_has_to_wait"),
         (ATTACKS, "very_many_addresses_share_what_is_left")],
    23: [(WEBHOOK, "an_address_of_ones_own_is_not_outside"),
         (WEBHOOK, "a_webhook_does_not_lead_here"),
         (WEBHOOK, "what_is_no_address_of_a_webhook_is_refused"),
         (WEBHOOK, "the_button_of_a_page_reaches_nothing_here")],
    24: [(WEBHOOK, "the_connection_goes_to_the_address_that_was_looked_at"),
         (WEBHOOK, "a_certificate_that_nobody_trusts_is_not_talked_to"),
         (WEBHOOK, "an_answer_that_only_drips_is_cut_off"),
         (WEBHOOK, "a_huge_answer_is_not_read"),
         (ALERTS, "what_another_attempt_cannot_help_is_given_up")],
    25: [(SIGN_IN, "no_password_digest_or_key_is_in_the_log_or_a_page"),
         (TOKENS, "no_token_is_in_the_log_the_settings_or_an_answer"),
         (ALERTS, "the_address_is_shown_to_nobody"),
         (ATTACKS, "an_error_shows_nothing_of_the_machine"),
         (WAYS, "a_host_that_fails_lets_nobody_in")],
    26: [(ATTACKS, "static_files_are_those_of_the_console_alone")],
    27: [("tests/house/test_attacks_are_listed.py", "no_file_holds_a_secret")],
    28: [(OPENID, "a_token_that_is_not_right_in_every_way_lets_nobody_in"),
         (OPENID, "a_token_of_another_key_lets_nobody_in"),
         (OPENID, "a_token_signed_with_what_everybody_knows_lets_nobody_in"),
         (OPENID, "a_token_that_was_changed_after_it_was_signed_lets_nobody_in"),
         (OPENID, "a_state_is_good_once"),
         (OPENID, "an_answer_to_somebody_else_s_sign_in_is_none_of_ours"),
         (OPENID, "an_answer_of_another_provider_is_not_taken_to_this_one"),
         (OPENID, "a_provider_that_leads_elsewhere_or_in_the_clear_is_not_followed"),
         (OPENID, "nobody_takes_the_name_of_one_who_has_a_password"),
         (OPENID, "who_has_no_name_that_can_be_trusted_is_not_let_in"),
         (OPENID, "no_secret_is_in_a_page_an_address_or_the_log")],
}  # fmt: skip


def rows():
    text = (ROOT / "SECURITY.md").read_text()
    return [int(number) for number in re.findall(r"^\| (\d+) \|", text, re.MULTILINE)]


def names_in(path):
    tree = ast.parse((ROOT / path).read_text())
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def test_every_row_is_tried_and_every_attack_has_a_row():
    assert rows() == list(range(1, len(rows()) + 1))
    assert sorted(TRIED) == rows()
    assert all(TRIED.values())


@pytest.mark.parametrize("row", TRIED)
def test_the_tests_of_a_row_are_there(row):
    lost = [name for path, name in TRIED[row] if f"test_{name}" not in names_in(path)]

    assert lost == []


def test_every_attack_of_the_suite_belongs_to_a_row():
    listed = {f"test_{name}" for tests in TRIED.values() for path, name in tests if path == ATTACKS}

    assert {name for name in names_in(ATTACKS) if name.startswith("test_")} == listed


#: What keys, tokens and digests of passwords look like; put together so that this file is none.
SECRETS = (
    "-----BEGIN " + r"(?:[A-Z]+ )?PRIVATE KEY-----",
    r"\bqless_" + r"[A-Za-z0-9_-]{43}\b",
    r"\bscrypt:15:8:3:" + r"[\w=-]{20,}:[\w=-]{40,}",
    r"\b(?:AKIA|ASIA)" + r"[0-9A-Z]{16}\b",
    r"\bgh[pousr]_" + r"[A-Za-z0-9]{36}\b",
    r"\bxox[abprs]-" + r"[A-Za-z0-9-]{10,}",
    r"hooks\.slack\.com/services/" + r"[A-Z0-9]{6,}",
)

#: Files of hashes that are no secrets.
_HASHES = ("requirements/", "tests/vendor/", "qless_web/static/vendor/")


def kept_files():
    found = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True
    )
    return [path for path in found.stdout.split("\0") if path and not path.startswith(_HASHES)]


def test_no_file_holds_a_secret():
    found = []
    for path in kept_files():
        place = ROOT / path
        if place.is_file() and place.stat().st_size < 2_000_000:
            text = place.read_bytes().decode("utf-8", "replace")
            found += [(path, pattern) for pattern in SECRETS if re.search(pattern, text)]

    assert found == []


@pytest.mark.parametrize(
    "text",
    [
        "-----BEGIN RSA " + "PRIVATE KEY-----",
        "qless_" + "aB3" * 14 + "x",
        "AKIA" + "ABCDEFGH12345678",
    ],
)
def test_a_secret_would_be_found(text):
    assert any(re.search(pattern, text) for pattern in SECRETS)
