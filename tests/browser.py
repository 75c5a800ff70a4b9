#!/usr/bin/env python3
"""browser.py IDM CHROMIUM CHROMEDRIVER [PAGE...]: pages that the program writes, opened in a browser from the file
system.

The contents of a page are compared with the output of the program for the same numbers. The test of a page is a
function below, marked with @page; it receives a Browser and a folder, and calls check(). The browser is controlled by
the WebDriver protocol, which needs only Python.
"""
import base64
import csv
import http.client
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent
DIAG = ROOT / "examples" / "diag.yaml"
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
RIGHT, TAB, ENTER = "\ue014", "\ue004", "\ue007"
IDM = ""
PAGES = {}
AUDITS = {}
FAILURES = []


def page(function):
    """Mark a function as the test of a page."""
    PAGES[function.__name__] = function
    return function


def audit(function):
    """Mark a function that runs axe-core, whose script is named by IDM_AXE; these functions run if it is set."""
    AUDITS[function.__name__] = function
    return function


def check(ok, what):
    print("ok  " if ok else "FAILED:", what)
    if not ok:
        FAILURES.append(what)


def close(a, b, tolerance):
    return abs(a - b) <= tolerance * max(1, abs(b))


def idm(*arguments):
    """Output of the program, as JSON if requested."""
    done = subprocess.run([IDM, *map(str, arguments)], check=True, capture_output=True, text=True)
    return json.loads(done.stdout) if "--json" in arguments else done.stdout


# --- the browser -----------------------------------------------------------------------------------


class Browser:
    def __init__(self, chromium, driver):
        self.driver = subprocess.Popen([driver, "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        for line in self.driver.stdout:
            if "started successfully on port" in line:
                self.port = int(line.rstrip().rstrip(".").split()[-1])
                break
        options = {
            "binary": chromium,
            "args": ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1200,1000"],
        }
        wanted = {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
        self.path = ""
        self.path = "/session/" + self.ask("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})["sessionId"]

    def ask(self, method, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request(method, self.path + path, json.dumps(body) if body is not None else None)
        answer = json.loads(connection.getresponse().read())["value"]
        connection.close()
        if isinstance(answer, dict) and "error" in answer:
            raise RuntimeError(answer["message"])
        return answer

    def quit(self):
        try:
            self.ask("DELETE", "")
        finally:
            self.driver.terminate()
            self.driver.wait()

    def run(self, script, *arguments):
        """Result of a script in the page, or of its promise."""
        return self.ask("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def devtools(self, command, **parameters):
        return self.ask("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def open(self, path, width=1200, dark=False):
        """Open a page on a screen of this width, and wait until it is ready or reports an error."""
        self.devtools("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 600)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.devtools("Emulation.setEmulatedMedia", features=[scheme])
        self.logs()
        self.ask("POST", "/url", {"url": pathlib.Path(path).as_uri()})

    def until(self, script, seconds=20):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self.run(script):
                return True
            time.sleep(0.05)
        return False

    def type(self, id, keys):
        """Type keys into the element with this id; for a file input, its path."""
        element = self.ask("POST", "/element", {"using": "css selector", "value": "#" + id})[ELEMENT]
        self.ask("POST", f"/element/{element}/value", {"text": keys})

    def press(self, id):
        """Press a button by the keyboard."""
        self.type(id, ENTER)

    def logs(self):
        """Console messages since the last call."""
        return [entry["message"] for entry in self.ask("POST", "/se/log", {"type": "browser"})]

    def text(self, id):
        return self.run("return document.getElementById(arguments[0]).textContent", id)

    def overflow(self):
        return self.run("const d = document.documentElement; return d.scrollWidth - d.clientWidth")


# --- the explorer ----------------------------------------------------------------------------------


def write_explorer(problem, folder):
    path = pathlib.Path(folder) / "explore.html"
    idm("explore", problem, "-o", path)
    return path


def ready(browser, what):
    done = browser.until("return document.documentElement.dataset.ready === 'yes'")
    check(done, f"{what}: the page gets ready ({browser.text('trouble')})")


def quiet(browser, what):
    said = browser.logs()
    check(not said, f"{what}: the console is told nothing {said[:2]}")


def accessible(browser, what):
    """Check that axe-core has no serious finding."""
    browser.run(pathlib.Path(os.environ["IDM_AXE"]).read_text(encoding="utf-8"))
    found = browser.run(
        "return axe.run(document).then((r) => r.violations.filter((v) => ['serious', 'critical'].includes(v.impact))"
        ".map((v) => v.id + ' at ' + v.nodes.slice(0, 3).map((n) => n.target.join(' ')).join(', ')))")
    check(not found, f"{what}: axe-core finds nothing serious {found}")


def settle(browser):
    """Wait until the numbers are constant and their plan is shown."""
    browser.until("return document.getElementById('figure').dataset.settled === 'yes'")


def dial(browser, name):
    """Index of the slider with this name."""
    return browser.run(
        "return [...document.querySelectorAll('.dial label')].findIndex((l) => l.textContent === arguments[0])", name
    )


def enter(browser, name, number):
    i = dial(browser, name)
    browser.run("document.getElementById(arguments[0]).select()", f"number-{i}")
    browser.type(f"number-{i}", number + TAB)
    settle(browser)


def numbers(browser, table):
    """{row: first number} of a table, with all digits."""
    rows = browser.run(
        "return [...document.querySelectorAll(arguments[0] + ' tbody tr')]"
        ".map((r) => [r.cells[0].textContent, r.cells[1].dataset.number])",
        "#" + table,
    )
    return {name: float(number) for name, number in rows}


def same_policy(browser, what, problem, *options):
    """The policy in the page equals that of the program along the same path."""
    steps = browser.run("return [...document.querySelectorAll('#steps li:not(:has(strong))')].map((l) => l.textContent)")
    if steps:
        options += "--path", ",".join(":".join(step.split(" → ")) for step in steps)
    solved = idm("solve", problem, "--json", *options)
    shown, belief = numbers(browser, "policy"), numbers(browser, "belief")
    found = {name: values[-1] for name, values in solved["policy"].items()}
    check(shown.keys() == found.keys() and all(close(shown[u], found[u], 1e-6) for u in found), f"{what}: policy {shown}")
    check(all(close(a, b, 1e-6) for a, b in zip(belief.values(), solved["at"][-1])), f"{what}: belief {belief}")
    value = float(browser.run("return document.getElementById('value').dataset.number"))
    check(close(value, solved["value"][-1], 1e-6), f"{what}: value {value}")


@page
def explorer_moves(browser, folder):
    """Sliders (by keyboard) and number fields change the policy to that of `idm solve`; a log follows."""
    browser.open(write_explorer(DIAG, folder))
    ready(browser, "diag")
    same_policy(browser, "as in the file", DIAG)
    browser.type(f"dial-{dial(browser, 'alpha')}", 40 * RIGHT)
    settle(browser)
    alpha = browser.run("return document.getElementById(arguments[0]).value", f"number-{dial(browser, 'alpha')}")
    check(float(alpha) > 0.5, f"keys turn a dial: alpha {alpha}")
    same_policy(browser, "alpha by keys", DIAG, "--set", f"alpha={alpha}")
    moved = ["--set", f"alpha={alpha}"]
    for name, key, number in [
        ("beta", "beta", "1.25"), ("eta", "eta", "2.5"), ("discount", "discount", "0.9"),
        ("prior_weight", "prior_weight", "0.8"), ("evidence_weight", "evidence_weight", "1.3"),
        ("utility monitor", "utility.monitor", "-2"),
    ]:
        enter(browser, name, number)
        moved += ["--set", f"{key}={number}"]
    same_policy(browser, "seven numbers", DIAG, *moved)
    check(browser.text("news").startswith("Most probable now: monitor, "), f"it is said, too: {browser.text('news')}")
    browser.press("step")
    same_policy(browser, "after a step", DIAG, *moved)
    browser.press("run")
    check(browser.run("return document.getElementById('step').ariaDisabled === 'true'"), "an episode comes to its end")
    enter(browser, "alpha", "0.7")
    moved[1] = "alpha=0.7"
    same_policy(browser, "at the end, with another alpha", DIAG, *moved)

    log = pathlib.Path(folder) / "log.csv"
    idm("simulate", DIAG, "-n", 200, "-o", log)
    browser.type("file", str(log))
    check(browser.until("return document.getElementById('score').dataset.number"), "a log is read")
    for at in [moved, moved + ["--set", "alpha=2"]]:
        if at is not moved:
            enter(browser, "alpha", "2")
        score = float(browser.run("return document.getElementById('score').dataset.number"))
        scored = idm("score", DIAG, log, "--json", *at)["log_likelihood"]
        check(abs(score - scored) <= 1e-9, f"log-likelihood {score!r}, by idm score {scored!r}")
    quiet(browser, "diag")


@page
def explorer_refuses(browser, folder):
    """Invalid input is reported, and reverted by the button."""
    browser.open(write_explorer(DIAG, folder))
    ready(browser, "diag")
    enter(browser, "discount", "1")
    check("discount" in browser.text("trouble"), f"a discount of 1: {browser.text('trouble')}")
    enter(browser, "alpha", "many")
    invalid = browser.run("return document.getElementById(arguments[0]).ariaInvalid", f"number-{dial(browser, 'alpha')}")
    check(invalid == "true", "what is no number is marked")
    browser.press("reset")
    settle(browser)
    check(browser.text("trouble") == "", "the button puts all back")
    same_policy(browser, "put back", DIAG)
    log = pathlib.Path(folder) / "log.csv"
    log.write_text("trajectory,action,observation\n1,monitor,purple\n")
    browser.type("file", str(log))
    check(browser.until("return document.getElementById('trouble').textContent"), "a strange log is refused")
    check("purple" in browser.text("trouble"), f"in words: {browser.text('trouble')}")
    quiet(browser, "refusals")


@page
def explorer_is_shut(browser, folder):
    """Labels that look like code are text; nothing is downloaded; no other script can run."""
    hostile = "<script>alert(1)</script>"
    problem = pathlib.Path(folder) / "hostile.yaml"
    text = DIAG.read_text().replace("name: diag", f"name: '{hostile}'").replace("diseased", "d</script>&\"'<img src=x>")
    for word in ("healthy", "d</script>"):
        check(word in text, "labels are put in")
    text = text.replace("[healthy, d</script>&\"'<img src=x>]", "[healthy, 'd</script>&\"''<img src=x>']")
    text = text.replace("declare_d</script>&\"'<img src=x>", "declare").replace("monitor", "'<b onclick=1>'")
    problem.write_text(text)
    browser.open(write_explorer(problem, folder))
    ready(browser, "hostile labels")
    browser.press("step")
    check(browser.run("return document.scripts.length") == 3, "no script beside the page's own")
    check(browser.run("return document.querySelectorAll('img, b').length") == 0, "no element out of a label")
    check(browser.run("return document.querySelector('h1').textContent") == hostile, "the name is shown as it is")
    check("<b onclick=1>" in browser.text("policy"), "and so is an action")
    check(browser.run("return performance.getEntriesByType('resource').length") == 0, "nothing is fetched")
    quiet(browser, "hostile labels")
    browser.run("const s = document.createElement('script'); s.textContent = 'window.ran = 1'; document.body.append(s)")
    check(browser.run("return window.ran === undefined"), "another script is not run")
    blocked = browser.run("return fetch('https://localhost/').then(() => 'went', () => 'blocked')")
    check(blocked == "blocked", "and none reaches a network")
    check(any("Content Security Policy" in said for said in browser.logs()), "by the page's own policy")


@page
def explorer_fits(browser, folder):
    """On a phone nothing exceeds the width of the screen; in dark mode everything is dark; every control has a name."""
    shades = []
    for example in ("diag", "clinic", "maintenance"):
        problem = ROOT / "examples" / f"{example}.yaml"
        written = write_explorer(problem, folder)
        for dark in (False, True):
            browser.open(written, width=375, dark=dark)
            ready(browser, example)
            check(browser.overflow() <= 0, f"{example}: no sideways scroll at 375 px ({browser.overflow()})")
            colours = "return [getComputedStyle(document.body).backgroundColor, getComputedStyle(document.querySelector('#figure .paper')).fill]"
            shades.append(tuple(browser.run(colours)))
        if example != "maintenance":
            same_policy(browser, example, problem)
        nameless = browser.run(
            "return [...document.querySelectorAll('input')].filter((i) => !i.labels.length && !i.ariaLabel).length")
        check(nameless == 0, f"{example}: every input has a name")
        check(browser.run("return !!document.querySelector('#figure svg[role=img]')"), f"{example}: the figure is an image to readers")
        quiet(browser, example)
    check(shades[0] != shades[1] and all(paper == fill for paper, fill in shades), f"light and dark: {shades[:2]}")


# --- reports ---------------------------------------------------------------------------------------


def write_report(folder, problem=DIAG, *options):
    """A small fit, with its report."""
    folder = pathlib.Path(folder)
    idm("simulate", problem, "-n", 60, "--seed", 1, "-o", folder / "log.csv")
    idm("fit", problem, folder / "log.csv", "-o", folder / "run", "--chains", 2, "--warmup", 200, "--draws", 200, *options)
    return folder / "run"


def read_back(panel, path):
    """Numbers of a line from its coordinates, by data-x and data-y of the panel."""
    def scale(text):
        low, high, start, end = map(float, text.split()[:4])
        return lambda place: low + (place - start) / (end - start) * (high - low)
    x, y = scale(panel["x"]), scale(panel["y"])
    places = [point.split(" ") for point in path.replace("L", "M").split("M") if point]
    return [(x(float(a)), y(float(b))) for a, b in places]


@page
def report_shows(browser, folder):
    """Every figure is drawn and shows its numbers: under the pointer, in positions, in files."""
    run = write_report(folder, DIAG, "--free", "alpha,beta")
    browser.open(run / "report.html")
    figures = browser.run(
        "return [...document.querySelectorAll('figure')].map((f) => [f.id, f.querySelectorAll('svg.wide .mark *').length])")
    check({f[0] for f in figures} >= {"posterior", "joint", "policy", "ppc", "calibration", "profile"}, f"figures {figures}")
    check(all(marks > 0 for _, marks in figures), "none is empty")
    quiet(browser, "report")

    panel, path = browser.run(
        "const p = document.querySelector('#policy svg.wide .panel'); const m = p.querySelector('.mark path');"
        "return [{x: p.dataset.x, y: p.dataset.y}, m.getAttribute('d')]")
    idm("plot", "policy", run, "-o", pathlib.Path(folder) / "p.svg", "--data", pathlib.Path(folder) / "p.csv")
    with open(pathlib.Path(folder) / "p.csv", encoding="utf-8") as stream:
        rows = [row for row in csv.DictReader(stream) if row["mark"] == "declare_healthy"]
    drawn = read_back(panel, path)
    check(len(drawn) == len(rows) and all(abs(a - float(r["x"])) < 1e-3 and abs(b - float(r["y"])) < 1e-3
                                          for (a, b), r in zip(drawn, rows)), "a line's places are its numbers")

    box = browser.run("const m = document.querySelector('#policy svg.wide .mark path'); m.scrollIntoView({block: 'center'});"
                      "const at = m.getPointAtLength(m.getTotalLength() / 3).matrixTransform(m.getScreenCTM()); return [at.x, at.y]")
    browser.devtools("Input.dispatchMouseEvent", type="mouseMoved", x=box[0], y=box[1])
    said = browser.run("const h = document.getElementById('hint'); return h.hidden ? '' : h.textContent")
    check(": x " in said, f"the pointer is told the numbers: {said}")

    browser.devtools("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(folder))
    browser.run("for (const b of document.querySelectorAll('#policy button')) b.click()")
    saved = [pathlib.Path(folder) / f"policy.{kind}" for kind in ("svg", "csv")]
    end = time.monotonic() + 10
    while time.monotonic() < end and not all(s.exists() for s in saved):
        time.sleep(0.05)
    check(all(s.exists() for s in saved), "both buttons save a file")
    tree = xml.etree.ElementTree.parse(saved[0])
    check(len(list(tree.iter())) > 50 and tree.getroot().find("{*}style") is not None, "the drawing is whole, with its style")
    check(saved[1].read_text(encoding="utf-8").splitlines()[0] == "panel,mark,kind,label,x,y", "and so are its numbers")
    quiet(browser, "saving")


@page
def report_fits(browser, folder):
    """On a phone, in dark mode, on paper; names that look like code are names."""
    problem = pathlib.Path(folder) / "hostile.yaml"
    problem.write_text(DIAG.read_text().replace("name: diag", "name: '<script>alert(1)</script>'")
                       .replace("monitor", "'<img src=x onerror=alert(1)>'"))
    run = write_report(folder, problem, "--free", "alpha")
    for dark in (False, True):
        browser.open(run / "report.html", width=375, dark=dark)
        check(browser.overflow() <= 0, f"no sideways scroll at 375 px ({browser.overflow()})")
        shown = browser.run("return [...document.querySelectorAll('figure svg')].map((s) => [s.classList.contains('narrow'),"
                            " s.getBoundingClientRect().width > 0])")
        check(all(narrow == seen for narrow, seen in shown), "figures are those for narrow screens")
        check(browser.run("return document.querySelectorAll('img').length + document.scripts.length"
                          " - document.querySelectorAll('figure').length") == 1, "no element out of a name")
        quiet(browser, "telephone")
    printed = base64.b64decode(browser.devtools("Page.printToPDF", preferCSSPageSize=True)["data"])
    pages = printed.count(b"/Type /Page\n") + printed.count(b"/Type /Page/")
    check(2 <= pages <= 20, f"it prints on {pages} pages")


# --- accessibility ------------------------------------------------------------------------------


def write_study(folder):
    """A small study, with its report."""
    study, page = pathlib.Path(folder) / "study", pathlib.Path(folder) / "study.html"
    idm("recover", DIAG, "--free", "alpha", "-n", 30, "--replications", 4, "--warmup", 100, "--draws", 100, "-o", study)
    idm("report", study, "-o", page)
    return page


@audit
def explorers_are_accessible(browser, folder):
    """Two and three states, and observed states."""
    for example in ("diag", "clinic", "maintenance"):
        written = write_explorer(ROOT / "examples" / f"{example}.yaml", folder)
        for dark in (False, True):
            browser.open(written, width=375, dark=dark)
            ready(browser, example)
            accessible(browser, f"{example}, {'dark' if dark else 'light'}")


@audit
def reports_are_accessible(browser, folder):
    """Reports of a run and of a study, on a phone and on a desktop."""
    for what, page in ("run", write_report(folder, DIAG, "--free", "alpha") / "report.html"), ("study", write_study(folder)):
        for width, dark in (375, False), (375, True), (1200, False), (1200, True):
            browser.open(page, width=width, dark=dark)
            accessible(browser, f"report of a {what}, {width} px, {'dark' if dark else 'light'}")


SKIPPED = 77  # exit code that ctest treats as skipped


def main():
    global IDM
    IDM, chromium, driver, *names = sys.argv[1:]
    if any(name in AUDITS for name in names) and not pathlib.Path(os.environ.get("IDM_AXE", "")).is_file():
        print("axe-core is not here: unchecked (`make deps` fetches it where PyPI can be reached)")
        return SKIPPED
    browser = Browser(chromium, driver)
    try:
        for name in names or PAGES:
            print(f"--- {name}")
            with tempfile.TemporaryDirectory() as folder:
                {**PAGES, **AUDITS}[name](browser, folder)
    finally:
        browser.quit()
    for failure in FAILURES:
        print("FAILED:", failure)
    return 1 if FAILURES else 0


if __name__ == "__main__":
    sys.exit(main())
