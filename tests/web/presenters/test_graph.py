"""The jobs around one, drawn: from left to right, nothing lost unsaid, rings named."""

from __future__ import annotations

from qless_core.reads.relatives import Relative, Relatives
from qless_web.formatting import plain
from qless_web.presenters.graph import BOX_HEIGHT, BOX_WIDTH, FEW, graph


def related(*links, root="j", gone=(), states=None, blocks=None, waits_for=None):
    """Make relatives out of links like "ab": a must complete before b."""
    links = [tuple(link) if isinstance(link, str) else link for link in links]
    steps = {root: 0}
    for _ in range(2):
        for first, then in links:
            if then in steps and -2 < steps[then] <= 0:
                steps.setdefault(first, steps[then] - 1)
            if first in steps and 0 <= steps[first] < 2:
                steps.setdefault(then, steps[first] + 1)
    known = [
        Relative(
            jid=jid,
            klass="" if jid in gone else f"Job{jid.upper()}",
            queue="q",
            state="" if jid in gone else (states or {}).get(jid, "depends"),
            step=step,
            waits_for=(waits_for or {}).get(jid, sum(then == jid for _, then in links)),
            blocks=(blocks or {}).get(jid, sum(first == jid for first, _ in links)),
        )
        for jid, step in sorted(steps.items(), key=lambda each: abs(each[1]))
    ]
    return Relatives(tuple(known), tuple(links))


def columns(found):
    xs = sorted({box.x for box in found.boxes})
    return [[box.jid for box in found.boxes if box.x == x] for x in xs]


def test_a_job_alone_has_no_graph():
    assert graph(related()) is None


def test_jobs_stand_from_left_to_right_in_the_order_they_can_run():
    found = graph(related("aj", "bj", "xa", "jk", "kz"))

    assert columns(found) == [["x"], ["a", "b"], ["j"], ["k"], ["z"]]
    assert [row.where for row in found.rows] == [
        "two steps before", "waited for", "waited for", "this job", "waits for it",
        "two steps after",
    ]  # fmt: skip
    assert len(found.lines) == 5
    assert found.left_out == found.rings == ()
    assert plain(found.label) == "JobJ j waits for 2 jobs; 1 job waits for it"


def test_no_box_lies_on_another_and_all_are_inside():
    found = graph(related(*(f"j{each}" for each in "abcdef"), "xj", *(f"a{n}" for n in "uvw")))

    for box in found.boxes:
        assert 0 <= box.x <= found.width - BOX_WIDTH
        assert 0 <= box.y <= found.height - BOX_HEIGHT
        for other in found.boxes:
            apart = abs(box.x - other.x) >= BOX_WIDTH or abs(box.y - other.y) >= BOX_HEIGHT
            assert box is other or apart


def test_lines_cross_little_because_columns_follow_their_neighbours():
    found = graph(related("ja", "jb", "jc", "cx", "ay"))

    assert columns(found)[2] == ["y", "x"]


def test_states_are_told_in_words_and_what_is_gone_is_gone():
    found = graph(related("aj", "bj", states={"a": "failed", "j": "depends"}, gone={"b"}))

    said = {box.jid: (box.state, box.title) for box in found.boxes}
    assert said["a"] == ("failed", "JobA a, failed")
    assert said["b"] == ("gone", "b b, gone")
    assert said["j"] == ("depends", "JobJ j, this job, depends")
    assert [line.kind for line in found.lines] == ["blocked", "blocked"]
    assert {box.jid for box in found.boxes if box.link is None} == {"j"}


def test_what_holds_others_up_is_drawn_first_and_the_rest_is_counted():
    links = [(f"p{number}", "j") for number in range(9)]

    found = graph(related(*links, states={"p7": "failed"}, waits_for={"j": 70}), FEW)

    assert columns(found)[0][0] == "p7"
    assert len(columns(found)[0]) == FEW
    assert found.left_out == ("64 of the 70 jobs that it waits for are not drawn.",)


def test_what_lies_beyond_is_told_at_the_box_and_in_all():
    found = graph(related("aj", "jk", waits_for={"a": 3, "k": 5}, blocks={"k": 2, "a": 40}))

    beyond = {box.jid: box.beyond for box in found.boxes}
    # Of those that wait for a job before, the others are no business of this one.
    assert beyond == {"a": "← 3", "j": "", "k": "← 4  2 →"}
    assert found.left_out == (
        "Beyond those that are drawn, where a ← or → says so, lie 9 more.",
    )  # fmt: skip
    assert "waits for 4 more that are not drawn, 2 more wait for it" in next(
        box.title for box in found.boxes if box.jid == "k"
    )


def test_b50_a_ring_is_named_and_drawn_and_what_hangs_on_it_is_not_in_it():
    found = graph(related("ja", "ab", "bj", "bz", "xj"))

    assert found.rings == ("a", "b", "j")
    assert {line.kind for line in found.lines} == {"", "ring"}
    assert {box.jid for box in found.boxes if box.ring} == {"a", "b", "j"}
    assert all("L" in line.path for line in found.lines if line.kind == "ring")


def test_b50_a_job_that_waits_for_itself_and_for_one_that_waits_for_it():
    found = graph(related("jj", "ja", "aj"))

    assert found.rings == ("a", "j")
    assert len(found.lines) == 3


def test_a_diamond_is_drawn_with_both_its_ways():
    found = graph(related("ja", "jb", "az", "bz"))

    assert columns(found) == [["j"], ["a", "b"], ["z"]]
    assert len(found.lines) == 4
    assert found.rings == ()


def test_a_long_class_keeps_its_end():
    relatives = related("ja")
    long = Relatives(
        tuple(
            Relative(each.jid, "shop.accounting.yearly.CloseTheBooks", "q", each.state, each.step,
                     each.waits_for, each.blocks)
            for each in relatives.jobs
        ),
        relatives.links,
    )  # fmt: skip

    assert {box.klass for box in graph(long).boxes} == {"…early.CloseTheBooks"}
