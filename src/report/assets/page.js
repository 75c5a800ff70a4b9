"use strict";
// Shows values at the pointer and saves figures as files. The rest of the page works without this script.
(() => {
  const hint = document.createElement("div");
  hint.id = "hint";
  hint.hidden = true;
  hint.setAttribute("role", "status");
  document.body.append(hint);

  // Parses "low high from to linear|log" of a panel; returns a function from positions on the page to numbers.
  const scale = (text) => {
    const [low, high, from, to] = text.split(" ").map(Number);
    const log = text.endsWith("log");
    return (place) => {
      const part = (place - from) / (to - from);
      return log ? low * (high / low) ** part : low + part * (high - low);
    };
  };
  const said = (number) => Number(number.toPrecision(4)).toString();

  // The point of a line that is nearest to the pointer.
  const nearest = (panel, path, at) => {
    const places = [...path.getAttribute("d").matchAll(/[ML]([-\d.e]+) ([-\d.e]+)/g)].map((m) => [Number(m[1]), Number(m[2])]);
    if (!places.length) return null;
    const [x, y] = places.reduce((a, b) => ((a[0] - at.x) ** 2 + (a[1] - at.y) ** 2 <= (b[0] - at.x) ** 2 + (b[1] - at.y) ** 2 ? a : b));
    return "x " + said(scale(panel.dataset.x)(x)) + ", y " + said(scale(panel.dataset.y)(y));
  };

  const describe = (event) => {
    const mark = event.target.closest("svg .mark");
    if (!mark) return null;
    const own = event.target.querySelector("title");
    if (own) return own.textContent;
    const panel = mark.closest(".panel");
    const name = mark.dataset.name;
    if (!panel.dataset.x || event.target.tagName !== "path") return name || null;
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(event.target.getScreenCTM().inverse());
    const where = nearest(panel, event.target, at);
    return [name, where].filter(Boolean).join(": ");
  };

  document.addEventListener("pointermove", (event) => {
    const text = event.target.closest ? describe(event) : null;
    hint.hidden = !text;
    if (!text) return;
    hint.textContent = text;
    hint.style.left = Math.min(event.clientX + 14, window.innerWidth - hint.offsetWidth - 6) + "px";
    hint.style.top = Math.max(4, event.clientY - hint.offsetHeight - 10) + "px";
  });

  const save = (text, kind, name) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: kind }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };

  for (const figure of document.querySelectorAll("figure[id]")) {
    const buttons = document.createElement("span");
    figure.querySelector("figcaption").append(" ", buttons);
    const add = (label, what, action) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = label;
      button.title = what;
      button.addEventListener("click", action);
      buttons.append(button);
    };
    add("SVG", "save this figure", () => {
      const drawing = figure.querySelector("svg.wide").cloneNode(true);
      const style = document.createElementNS("http://www.w3.org/2000/svg", "style");
      style.textContent = document.getElementById("figures").textContent;
      drawing.prepend(style);
      save(new XMLSerializer().serializeToString(drawing), "image/svg+xml", figure.id + ".svg");
    });
    add("CSV", "save the numbers of this figure", () => {
      save(JSON.parse(figure.querySelector("script").textContent), "text/csv", figure.id + ".csv");
    });
  }
})();
