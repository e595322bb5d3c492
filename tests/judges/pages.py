"""Judges of the pages. Each is a program in the folder `full` that prints its findings."""

import shutil
import subprocess

from judge import FULL, HERE, ROOT, Finding, Judge, ask

PAGES = ROOT / "tests" / "pages"


def page_judge(name, package, script):
    def read():
        if not (PAGES / "node_modules").exists():
            subprocess.run(["npm", "ci", "--silent", "--ignore-scripts"], cwd=PAGES, check=True)
        # The program finds the packages beside it.
        for file in ("pages.mjs", script):
            shutil.copy(HERE / "full" / file, FULL / "node")
        found, failures = ask(name, "node", FULL / "node" / script)
        return failures or [Finding(**each) for each in found]

    return Judge(name, f"npm:{package}", read, is_full=True)


JUDGES = [
    page_judge("html-validate", "html-validate", "html_validate.mjs"),
    page_judge("csp_evaluator", "csp_evaluator", "csp_evaluator.mjs"),
    page_judge("pa11y", "pa11y", "pa11y.mjs"),
    page_judge("@siteimprove/alfa-playwright", "@siteimprove/alfa-playwright", "alfa.mjs"),
    page_judge("lighthouse", "lighthouse", "lighthouse.mjs"),
]
