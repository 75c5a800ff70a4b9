"use strict";
// Client of src/report/explorer/explorer.h: controls set numbers, and the library returns text.
(async () => {
  const $ = (id) => document.getElementById(id);
  const bytesOf = (id) => Uint8Array.from(atob($(id).textContent), (c) => c.charCodeAt(0));

  // System calls of the C library: the time. Every other call returns 52 (not implemented).
  let memory;
  const system = {
    clock_time_get: (id, precision, at) => {
      new DataView(memory.buffer).setBigUint64(at, BigInt(Math.round(performance.now() * 1e6)), true);
      return 0;
    },
    proc_exit: () => {
      throw new Error("the library aborted");
    },
  };
  const module = await WebAssembly.compile(bytesOf("wasm"));
  const imports = {};
  for (const { module: room, name } of WebAssembly.Module.imports(module)) {
    imports[room] ??= {};
    imports[room][name] = system[name] ?? (() => 52);
  }
  const { exports } = await WebAssembly.instantiate(module, imports);
  memory = exports.memory;
  exports._initialize();

  const lend = (bytes, use) => {
    const at = exports.malloc(bytes.length + 1);
    if (!at) throw new Error("out of memory");
    new Uint8Array(memory.buffer).set(bytes, at);
    new Uint8Array(memory.buffer)[at + bytes.length] = 0;
    try {
      return use(at, bytes.length);
    } finally {
      exports.free(at);
    }
  };
  const textAt = (at) => {
    const bytes = new Uint8Array(memory.buffer);
    return new TextDecoder().decode(bytes.subarray(at, bytes.indexOf(0, at)));
  };
  const explorer = lend(bytesOf("parcel"), exports.idm_explorer_open);
  const trouble = (text) => {
    $("trouble").textContent = text;
  };
  // Message of the last error; empty if there is none.
  const message = () => {
    const at = exports.idm_explorer_message(explorer);
    return at ? textAt(at) : "";
  };
  if (!explorer || message()) {
    trouble(explorer ? message() : "out of memory");
    return;
  }
  const call = (name, ...given) => {
    const status = exports["idm_explorer_" + name](explorer, ...given);
    trouble(status ? message() : "");
    return !status;
  };

  // Text of the library as DOM nodes; scripts in it are never run.
  const nodesOf = (at, type) => {
    const parsed = new DOMParser().parseFromString(textAt(at), type);
    return type === "text/html" ? [...parsed.body.childNodes] : [parsed.documentElement];
  };

  // Sliders: positions 0 to 1000, and the numbers that they represent.
  const laws = {
    linear: {
      number: (p, d) => d.low + (p / 1000) * (d.high - d.low),
      place: (x, d) => (1000 * (x - d.low)) / (d.high - d.low),
    },
    power: {
      number: (p, d) =>
        p === 0 ? 0 : p === 1000 && d.infinite ? Infinity : d.low * (d.high / d.low) ** ((p - 1) / 998),
      place: (x, d) =>
        x <= 0 ? 0 : x === Infinity ? 1000 : Math.min(999, 1 + (998 * Math.log(x / d.low)) / Math.log(d.high / d.low)),
    },
    signed: {
      number: (p, d) =>
        p === 500 ? 0 : Math.sign(p - 500) * d.low * (d.high / d.low) ** ((Math.abs(p - 500) - 1) / 499),
      place: (x, d) =>
        x === 0 ? 500 : 500 + Math.sign(x) * Math.max(1, 1 + (499 * Math.log(Math.abs(x) / d.low)) / Math.log(d.high / d.low)),
    },
    inverse: {
      number: (p, d) => (p === 500 ? Infinity : 1 / (d.low + (p / 1000) * (d.high - d.low))),
      place: (x, d) => (1000 * (1 / x - d.low)) / (d.high - d.low),
    },
  };
  // Numbers are rounded to the digits that are displayed, so that the plan is for the displayed numbers.
  const round = (x, d) => {
    if (!Number.isFinite(x)) return x;
    if (d.law !== "linear") return Number(x.toPrecision(3));
    const digits = Math.max(0, 3 - Math.floor(Math.log10(d.high - d.low)));
    return Number(x.toFixed(digits)) + 0;
  };
  const show = (x) => (x === Infinity ? "inf" : x === -Infinity ? "-inf" : String(x));
  const read = (text) => {
    const trimmed = text.trim().toLowerCase();
    if (/^[+]?inf(inity)?$/.test(trimmed)) return Infinity;
    if (/^-inf(inity)?$/.test(trimmed)) return -Infinity;
    return trimmed === "" ? NaN : Number(trimmed);
  };
  const dials = [...document.querySelectorAll(".dial")].map((element) => {
    const [range, number] = element.querySelectorAll("input");
    const { block, first, count, law, low, high, infinite, value } = range.dataset;
    return {
      range, number, law, block: Number(block), first: Number(first), count: Number(count),
      low: Number(low), high: Number(high), infinite: infinite === "1", usual: read(value), value: read(value),
    };
  });
  const place = (dial) => {
    dial.range.value = laws[dial.law].place(dial.value, dial);
    dial.range.setAttribute("aria-valuetext", show(dial.value));
  };
  const turn = (dial, value) => {
    dial.value = value;
    dial.range.setAttribute("aria-valuetext", show(value));
    exports.idm_explorer_set(explorer, dial.block, dial.first, dial.count, value);
    plan();
  };

  let width = $("figure").clientWidth;
  const sketch = () => {
    const svg = exports.idm_explorer_draw(explorer, Math.max(240, Math.floor(width)));
    if (svg) $("figure").replaceChildren(...nodesOf(svg, "image/svg+xml"));
    const words = exports.idm_explorer_tell(explorer);
    if (words) $("present").replaceChildren(...nodesOf(words, "text/html"));
    const over = exports.idm_explorer_over(explorer) !== 0;
    for (const id of ["step", "run"]) $(id).ariaDisabled = String(over); // can still be focused by the keyboard
    const score = exports.idm_explorer_score(explorer);
    if (!Number.isNaN(score)) {
      $("score").textContent = Number.isFinite(score) ? score.toFixed(4) : show(score);
      $("score").dataset.number = String(score);
      $("decisions").textContent = `over ${exports.idm_explorer_decisions(explorer)} decisions`;
    }
  };
  // While numbers change: at most one plan per frame, started from the last. After that: a cold start, which depends on them alone.
  let waiting = false;
  let rest;
  // Summary for screen readers, once after numbers have changed.
  const sum = () => {
    const rows = [...document.querySelectorAll("#policy tbody tr")];
    const p = rows.map((row) => Number(row.cells[1].dataset.number));
    const best = p.indexOf(Math.max(...p));
    return best < 0 ? "" : `Most probable now: ${rows[best].cells[0].textContent}, ${p[best].toFixed(4)}`;
  };
  const work = (anew) => {
    const begun = performance.now();
    if (call("plan", anew)) sketch();
    $("figure").dataset.milliseconds = (performance.now() - begun).toFixed(2);
    if (anew) $("news").textContent = sum();
    $("figure").dataset.settled = anew ? "yes" : "no";
  };
  const plan = () => {
    clearTimeout(rest);
    rest = setTimeout(work, 120, 1);
    $("figure").dataset.settled = "no";
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      work(0);
    });
  };

  for (const dial of dials) {
    place(dial);
    dial.range.addEventListener("input", () => {
      const value = round(laws[dial.law].number(Number(dial.range.value), dial), dial);
      dial.number.value = show(value);
      dial.number.removeAttribute("aria-invalid");
      turn(dial, value);
    });
    dial.number.addEventListener("change", () => {
      const value = read(dial.number.value);
      dial.number.setAttribute("aria-invalid", String(Number.isNaN(value)));
      if (Number.isNaN(value)) return;
      turn(dial, value);
      place(dial);
    });
  }
  $("reset").addEventListener("click", () => {
    for (const dial of dials) {
      dial.number.value = show(dial.usual);
      dial.number.removeAttribute("aria-invalid");
      turn(dial, dial.usual);
      place(dial);
    }
  });

  // Step by step.
  const last = () => {
    const steps = document.querySelectorAll("#steps li");
    return steps.length ? `Step ${steps.length}: ${steps[steps.length - 1].textContent}` : "At the beginning";
  };
  const move = (name, ...given) => {
    if (call(name, ...given)) sketch();
    $("news").textContent = last();
  };
  let seed = 1;
  $("step").addEventListener("click", () => move("step"));
  $("begin").addEventListener("click", () => move("begin", ++seed));
  $("run").addEventListener("click", () => {
    while (!exports.idm_explorer_over(explorer) && call("step"));
    sketch();
    $("news").textContent = last();
  });

  // The log.
  $("file").addEventListener("change", async () => {
    const file = $("file").files[0];
    if (!file) return;
    const bytes = new Uint8Array(await file.arrayBuffer());
    $("score").textContent = "no log yet";
    $("decisions").textContent = "";
    delete $("score").dataset.number;
    if (lend(bytes, (at, length) => call("load", at, length))) sketch();
  });

  // The figure has the available width. It is sticky; the scroll padding keeps elements with focus visible.
  new ResizeObserver(() => {
    document.documentElement.style.scrollPaddingTop = `${$("picture").offsetHeight + 8}px`;
    if (Math.abs($("figure").clientWidth - width) < 1) return;
    width = $("figure").clientWidth;
    sketch();
  }).observe($("picture"));
  sketch();
  $("figure").dataset.settled = "yes";
  document.documentElement.dataset.ready = "yes";
})().catch((error) => {
  document.getElementById("trouble").textContent = String(error);
});
