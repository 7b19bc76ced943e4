"""`make lab`, as a learner sees it in the browser."""

from __future__ import annotations

import os
import re
import subprocess
import time
from pathlib import Path

import psutil

ROOT = Path(__file__).resolve().parent.parent


def test_make_lab_opens_the_first_lesson_and_asks_nothing(tmp_path: Path, chromium: str) -> None:
    from playwright.sync_api import sync_playwright

    log, home = tmp_path / "log", tmp_path / "home"
    arguments = "--no-browser --port=0 --IdentityProvider.token=word"
    with log.open("w") as out:
        lab = subprocess.Popen(
            ["make", "lab", f"LAB_ARGS={arguments}"],
            cwd=ROOT,
            stdout=out,
            stderr=out,
            env=os.environ | {"HOME": str(home), "BROWSER": "true"},
        )
    try:
        for _ in range(120):
            opens = re.findall(r"http://localhost:\d+/", log.read_text())
            if opens or lab.poll() is not None:
                break
            time.sleep(0.5)
        assert opens, log.read_text()
        first = "notebooks/01_add_and_model/add_and_model.ipynb"
        assert f'ServerApp.root_dir="{ROOT}" {arguments} {first}' in log.read_text()
        with sync_playwright() as play:
            browser = play.chromium.launch(
                executable_path=chromium, args=["--no-sandbox", "--disable-gpu"]
            )
            page = browser.new_page()
            asked: list[str] = []
            page.on("request", lambda request: asked.append(request.url))
            page.goto(f"{opens[0]}lab/tree/{first}?token=word")
            page.wait_for_selector(".jp-Notebook .jp-Cell", timeout=60_000)
            page.wait_for_selector('[data-status="idle"]', timeout=60_000)
            page.wait_for_timeout(3000)  # JupyterLab asks its questions after it has settled
            assert page.locator(".jp-Dialog").count() == 0
            assert page.locator(".Toastify__toast").all_inner_texts() == []
            assert [url for url in asked if "//localhost" not in url] == []
            assert page.get_by_role("button", name="Validate").count() == 1
            browser.close()
        kernels = [p.cmdline() for p in psutil.Process(lab.pid).children(recursive=True)]
        kernels = [line for line in kernels if "ipykernel_launcher" in line]
        assert [line[0] for line in kernels] == [str(ROOT / ".venv/bin/python")]
    finally:
        family = [*psutil.Process(lab.pid).children(recursive=True), lab]
        for process in family:
            process.terminate()
        psutil.wait_procs(family[:-1], timeout=10)
        lab.wait(10)
