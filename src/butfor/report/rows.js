"use strict";
// Filters and sorts the list of rows. Without it, the page is whole: all rows are there, in the order given.
(() => {
  const table = document.querySelector("table.rows"), tools = document.querySelector(".tools");
  if (!table) return;
  const body = table.tBodies[0], lines = [...body.rows], heads = [...table.tHead.rows[0].cells];
  const names = heads.map(head => head.textContent), count = tools.querySelector("p");
  const text = (line, column) => line.cells[column].textContent.trim();
  const language = document.documentElement.lang;
  const [marks, point] = language === "de" ? [".", ","] : [",", "."];
  const number = words => Number.parseFloat(words.replaceAll(marks, "").replace(point, "."));
  const collator = new Intl.Collator(language, { numeric: true });

  const show = () => {
    const wanted = [...tools.elements].filter(one => one.value).map(one => [names.indexOf(one.name), one]);
    let shown = 0;
    for (const line of lines) {
      line.hidden = !wanted.every(([column, one]) => one.type === "search"
        ? text(line, column).toLowerCase().includes(one.value.trim().toLowerCase()) : text(line, column) === one.value);
      shown += !line.hidden;
    }
    count.textContent = shown === lines.length ? ""
      : count.dataset.shown.replace("{shown}", shown).replace("{all}", lines.length);
  };

  const key = (line, column) => heads[column].className === "what" ? String(line.cells[column].querySelectorAll("li").length)
    : text(line, column);
  const sort = column => {
    const up = heads[column].getAttribute("aria-sort") !== "ascending", keyed = lines.map(line => [key(line, column), line]);
    const numbers = keyed.every(([words]) => !words || !Number.isNaN(number(words)));
    const compare = numbers ? (a, b) => number(a) - number(b) : collator.compare;
    // rows without a value come last, whichever the order
    keyed.sort(([a], [b]) => !a || !b ? !a - !b : up ? compare(a, b) : compare(b, a));
    heads.forEach(head => head.removeAttribute("aria-sort"));
    heads[column].setAttribute("aria-sort", up ? "ascending" : "descending");
    lines.splice(0, lines.length, ...keyed.map(([, line]) => line));
    body.append(...lines);
  };

  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    button.addEventListener("click", () => sort(column));
    head.append(button);
  });
  tools.addEventListener("input", show);
  tools.addEventListener("submit", event => event.preventDefault());
  tools.hidden = false;
  table.classList.add("sortable");
})();
