// A page of `lab view`: the picture of the line under the cursor or with the focus, and the phase that a slider is at.
"use strict";
(() => {
  for (const stage of document.querySelectorAll(".stage")) {
    const figures = [...stage.querySelectorAll("figure")], rows = [...stage.querySelectorAll(".drawn")];
    const show = (row) => {
      for (const one of rows) one.classList.toggle("shown", one === row);
      for (const figure of figures) figure.hidden = figure.dataset.line !== row.dataset.line;
    };
    rows.forEach((row, place) => {
      row.addEventListener("mouseenter", () => show(row));
      row.addEventListener("focus", () => show(row));
      row.addEventListener("keydown", (event) => {
        const step = {ArrowDown: 1, ArrowUp: -1}[event.key];
        if (!step) return;
        event.preventDefault();
        rows[place + step]?.focus();
      });
    });
    // At first, the line that asks for most.
    const heat = (row) => [...row.querySelectorAll("[style]")].reduce((sum, cell) => sum + Number(cell.style.getPropertyValue("--heat")), 0);
    if (rows.length) {
      const dearest = rows.reduce((a, b) => (heat(b) > heat(a) ? b : a)), source = stage.querySelector(".source");
      show(dearest);
      source.scrollTop = dearest.offsetTop - source.clientHeight / 2;
    }

    const sliders = [...stage.querySelectorAll(".phases")].map((phases) => {
      const order = JSON.parse(phases.dataset.order), slider = phases.querySelector("input"), tables = [...phases.querySelectorAll("table")];
      const set = () => {
        const phase = Number(slider.value);
        phases.querySelector("output").textContent = phase;
        tables.forEach((table, kind) => { table.hidden = kind !== order[phase]; });
      };
      slider.addEventListener("input", () => { set(); mark(); });
      set();
      return phases;
    });
    // The source lines of the phases that are shown.
    const mark = () => {
      const active = new Set(sliders.flatMap((phases) => [...phases.querySelectorAll("table:not([hidden]) [data-line]")].map((one) => one.dataset.line)));
      for (const row of stage.querySelectorAll(".source [data-line]")) row.classList.toggle("active", active.has(row.dataset.line));
    };
    mark();
  }
  document.documentElement.dataset.view = "shown";
})();
