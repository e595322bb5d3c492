"""Compares findings with accepted.json, and docs/judges.md with the results."""

import collections
import datetime
import json
import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parent
PAGE = HERE.parents[1] / "docs" / "judges.md"
# Each entry has a judge, a rule, a list of places in which * stands for any text, and the reason.
ACCEPTED = json.loads((HERE / "accepted.json").read_text())


class Verdict:
    """The findings of one judge, divided by the entries of accepted.json."""

    def __init__(self, judge, findings):
        self.judge = judge
        self.entries = [entry for entry in ACCEPTED if matches(entry["judge"], judge.name)]
        self.new = []
        self.counts = collections.Counter()
        self.used_places = set()
        for finding in findings:
            self.divide(finding)

    def divide(self, finding):
        for number, entry in enumerate(self.entries):
            places = [place for place in entry["places"] if matches(place, finding.place)]
            if entry["rule"] == finding.rule and places:
                self.counts[number] += 1
                self.used_places.update((number, place) for place in places)
                return
        self.new.append(finding)

    def summary(self):
        return f"{len(self.new)} new, {self.counts.total()} accepted"

    def problems(self):
        for finding in self.new:
            yield f"{self.judge.name}: {finding.rule}: {finding.place} {finding.message}".rstrip()
        for number, entry in enumerate(self.entries):
            for place in entry["places"]:
                if (number, place) not in self.used_places:
                    yield f"accepted.json: {self.judge.name} no longer finds {entry['rule']} at {place}"

    def version_row(self):
        return f"| {self.judge.name} | {self.judge.version()} |"

    def result_row(self, today):
        return f"{self.version_row()} {today} | {len(self.new)} | {self.counts.total()} |"

    def reason_rows(self):
        for entry in self.entries:
            yield f"| {self.judge.name} | {entry['rule']} | {entry['reason']} |"


def matches(pattern, text):
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), text) is not None


def page_problems(verdicts, judges):
    """The page shows the numbers of the day on which it was written, but the versions and reasons of today."""
    _, results, reasons = read_page()
    names = sorted((results | reasons).keys() - {judge.name for judge in judges})
    names += [verdict.judge.name for verdict in verdicts if not is_current(verdict, results, reasons)]
    return [f"docs/judges.md is not current, run tests/judges/run full --write: {name}" for name in names]


def is_current(verdict, results, reasons):
    name = verdict.judge.name
    versions = [row.startswith(verdict.version_row()) for row in results[name]]
    return versions == [True] and reasons[name] == list(verdict.reason_rows())


def write_page(verdicts, judges):
    """Replaces the rows of these verdicts in the tables of the page."""
    head, results, reasons = read_page()
    today = datetime.date.today().isoformat()
    results |= {verdict.judge.name: [verdict.result_row(today)] for verdict in verdicts}
    reasons |= {verdict.judge.name: list(verdict.reason_rows()) for verdict in verdicts}
    lines = ["## Results", "", "| judge | version | date | findings | accepted |", "|---|---|---|---|---|"]
    lines += [row for judge in judges for row in results.get(judge.name, [])]
    lines += ["", "## Accepted findings", "", "| judge | rule | reason |", "|---|---|---|"]
    lines += [row for judge in judges for row in reasons.get(judge.name, [])]
    PAGE.write_text(head + "\n".join(lines) + "\n")


def read_page():
    """Returns what precedes the tables, and the rows of both tables by judge."""
    head, _, tables = PAGE.read_text().partition("## Results\n")
    return head, *map(rows_by_judge, tables.partition("## Accepted findings\n")[::2])


def rows_by_judge(table):
    rows = collections.defaultdict(list)
    for row in table.splitlines():
        if row.startswith("| ") and not row.startswith("| judge |"):
            rows[row.split(" | ")[0].removeprefix("| ")].append(row)
    return rows
