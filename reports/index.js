// The index of a gallery: a column's heading sorts the runs by it, and once more the other way round.
"use strict";
(() => {
  const body = document.querySelector("tbody");
  const key = (row, column) => {
    const text = row.cells[column].dataset.key ?? row.cells[column].textContent;
    return text !== "" && !Number.isNaN(Number(text)) ? Number(text) : text;
  };
  const order = (a, b) =>
    typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", {numeric: true});
  document.querySelectorAll("thead th").forEach((heading, column) => {
    const button = document.createElement("button");
    button.textContent = heading.textContent;
    heading.replaceChildren(button);
    button.addEventListener("click", () => {
      const falling = heading.getAttribute("aria-sort") === "ascending";
      document.querySelectorAll("thead th").forEach((one) => one.removeAttribute("aria-sort"));
      heading.setAttribute("aria-sort", falling ? "descending" : "ascending");
      const rows = [...body.rows].sort((a, b) => order(key(a, column), key(b, column)));
      body.append(...(falling ? rows.reverse() : rows));
    });
  });
})();
