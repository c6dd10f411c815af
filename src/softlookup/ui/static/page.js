// The page's script: loads what is scrolled to, follows questions, jumps to citations, listens to keys.
// Everything it shows was made and escaped by the server; it makes no HTML of its own.
"use strict";

const $ = (selector, root = document) => root.querySelector(selector);
const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];
const root = document.documentElement;
const panes = $(".panes");
const base = panes && `/documents/${panes.dataset.document}`;
let active = null; // the answer whose marks are shown
let passage = null; // the citation that was jumped to last
let aimed = null; // what was jumped to, until the reader scrolls
let picking = null; // the form that waits for a click on a clause

root.classList.add("scripted");

function say(text) {
  $("#said").textContent = text;
}

function note(html) {
  $("#note").innerHTML = html;
}

function trouble(type, body) {
  // a note of the page is HTML; an error of the API is JSON, and is shown as text; nothing at all is silence
  if ((type || "").startsWith("text/html")) return note(body);
  let told = $("#note").dataset.gone;
  try {
    const { message, remedy } = JSON.parse(body).error;
    told = `${message}. ${remedy}`;
  } catch {
    // not even JSON
  }
  const line = document.createElement("p");
  const close = document.createElement("button");
  const box = document.createElement("div");
  line.textContent = told;
  close.textContent = "×";
  close.className = "quiet";
  close.dataset.do = "close-note";
  close.setAttribute("aria-label", $("#note").dataset.close);
  box.className = "note";
  box.append(line, close);
  $("#note").replaceChildren(box);
}

async function get(address) {
  const response = await fetch(address, { headers: { "HX-Request": "true" } });
  const text = await response.text();
  if (!response.ok) throw Object.assign(new Error("refused"), { type: response.headers.get("Content-Type"), text });
  return text;
}

// --- parts of the document: loaded when scrolling rests, the nearest first, two at a time

const parts = panes ? $$("#text .part") : [];
const sighted = new Set();
let pause = 0;
let loads = 0;
const eye = new IntersectionObserver(
  (entries) => {
    for (const { target, isIntersecting } of entries) sighted[isIntersecting ? "add" : "delete"](target);
    clearTimeout(pause);
    pause = setTimeout(loadSighted, 100);
  },
  { root: $("#text"), rootMargin: "900px 0px" },
);

function loadSighted() {
  const pane = $("#text").getBoundingClientRect();
  const middle = (pane.top + pane.bottom) / 2;
  const away = (part) => {
    const box = part.getBoundingClientRect();
    return box.top > middle ? box.top - middle : Math.max(0, middle - box.bottom);
  };
  const waiting = [...sighted].sort((one, other) => away(one) - away(other));
  for (const part of waiting.slice(0, Math.max(0, 2 - loads))) {
    sighted.delete(part);
    loads += 1;
    load(part).catch(() => {}).finally(() => {
      loads -= 1;
      loadSighted();
    });
  }
}

const places = (link) => (panes.dataset.mode === "pages" ? link.dataset.pages : link.dataset.parts).split(" ");

function marked(part) {
  // "session" and "turn" where the active answer has a mark in this part
  if (!active || !$$(".jump", active).some((link) => places(link).includes(part.dataset.part))) return "";
  return `?session=${active.dataset.session}&turn=${active.dataset.turn}`;
}

async function load(part) {
  const wanted = marked(part);
  if (part.dataset.shown === wanted) return;
  const kind = panes.dataset.mode === "pages" ? "pages" : "parts";
  part.dataset.shown = wanted;
  eye.unobserve(part);
  try {
    part.innerHTML = await get(`${base}/${kind}/${part.dataset.part}${wanted}`);
    part.classList.add("loaded");
    part.style.minHeight = "";
    if (aimed) aimed.scrollIntoView({ block: "center" }); // what is loaded above it has moved it
  } catch (error) {
    delete part.dataset.shown;
    const again = document.createElement("button");
    const text = $("[data-failed]");
    again.className = "quiet";
    again.textContent = `${text.dataset.failed} ${text.dataset.again}`;
    again.onclick = () => load(part).catch(() => {});
    part.replaceChildren(again);
    throw error;
  }
}

function prepare() {
  for (const part of parts) {
    if (part.classList.contains("loaded")) {
      part.dataset.shown = new URLSearchParams(location.search).has("turn") ? "other" : "";
    } else {
      if (panes.dataset.mode === "text") part.style.minHeight = `${Math.max(96, part.dataset.size * 0.36)}px`;
      eye.observe(part);
    }
  }
  const begin = $(".part[data-begin]");
  const clause = new URLSearchParams(location.search).get("clause");
  if (clause) goToClause(Number(clause));
  else if (begin && begin !== parts[0]) load(begin).then(() => flash(document.getElementById(location.hash.slice(1)) || begin), () => {});
}

// --- jumps

function panel(name) {
  panes.dataset.panel = name;
  for (const link of $$(".panels a")) link.toggleAttribute("aria-current", link.dataset.panel === name);
}

function flash(element) {
  aimed = element;
  element.scrollIntoView({ block: "center" });
  element.classList.remove("here");
  void element.getBoundingClientRect(); // so that the animation begins again
  element.classList.add("here");
}

async function activate(answer) {
  if (active === answer) return;
  active = answer;
  const cited = new Set($$(".jump", answer).flatMap(places));
  const stale = parts.filter((part) => part.dataset.shown || (part.dataset.shown === "" && cited.has(part.dataset.part)));
  await Promise.allSettled(stale.map(load));
}

async function jump(link, focus = true) {
  const answer = link.closest(".answer");
  passage?.classList.remove("now");
  passage = link.closest(".passage");
  passage.classList.add("now");
  if (innerWidth < 768) panel("text");
  else if (panes.dataset.panel === "tree") panel("text");
  await activate(answer);
  const part = document.getElementById(`part-${places(link)[0]}`);
  if (!part) return;
  aimed = null;
  part.scrollIntoView();
  await load(part);
  const target = document.getElementById(link.dataset.target);
  if (target) flash(target);
  link.scrollIntoView({ block: "nearest" });
  if (focus) link.focus({ preventScroll: true });
}

async function goToClause(clause) {
  const part = parts.filter((one) => Number(one.dataset.first) <= clause).pop() || parts[0];
  if (!part) return;
  if (innerWidth < 768 || panes.dataset.panel === "tree") panel("text");
  part.scrollIntoView();
  // a clause may begin on the page before the one that the first clause of the next page tells
  for (const one of [part, parts[parts.indexOf(part) - 1]].filter(Boolean)) {
    await load(one);
    const place = $(`#cl-${clause}`, one) || $(`[data-clause="${clause}"]`, one);
    if (place) return flash(place.matches("span:empty") ? place.parentElement : place);
  }
}

// --- the clause tree

const tree = $("#tree [role=tree]");

async function expand(item, open) {
  if (!item.hasAttribute("aria-expanded")) return;
  const group = $(":scope > ul", item);
  if (open && !group.childElementCount) {
    group.innerHTML = await get(`${base}/tree?parent=${item.dataset.clause}`);
    htmx.process(group);
  }
  item.setAttribute("aria-expanded", String(open));
}

function focusItem(item) {
  if (!item) return;
  for (const other of $$("[tabindex='0']", tree)) other.tabIndex = -1;
  item.tabIndex = 0;
  item.focus();
}

function treeKey(event) {
  const item = event.target.closest("[role=treeitem]");
  const seen = $$("[role=treeitem]", tree).filter((one) => one.offsetParent !== null);
  const at = seen.indexOf(item);
  const open = item.getAttribute("aria-expanded");
  const moves = {
    ArrowDown: () => focusItem(seen[at + 1]),
    ArrowUp: () => focusItem(seen[at - 1]),
    Home: () => focusItem(seen[0]),
    End: () => focusItem(seen[seen.length - 1]),
    ArrowRight: () => (open === "false" ? expand(item, true) : open === "true" && focusItem($("[role=treeitem]", item))),
    ArrowLeft: () => (open === "true" ? expand(item, false) : focusItem(item.parentElement.closest("[role=treeitem]"))),
    Enter: () => choose(item),
    " ": () => choose(item),
  };
  if (!moves[event.key] || event.altKey || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  moves[event.key]();
}

function choose(item) {
  if (picking) return pick(item.dataset.clause);
  for (const other of $$("[aria-selected]", tree)) other.removeAttribute("aria-selected");
  item.setAttribute("aria-selected", "true");
  goToClause(Number(item.dataset.clause));
}

// --- questions

const clock = (start) => `${((performance.now() - start) / 1000).toFixed(0)} s`;

function follow(run) {
  const start = performance.now();
  const stream = new EventSource(run.dataset.events);
  const told = $(".now", run);
  const words = $(".said", run);
  run.removeAttribute("data-events");
  const tick = setInterval(() => ($(".clock", run).textContent = clock(start)), 1000);
  let phase = "";
  stream.addEventListener("progress", (event) => {
    const now = JSON.parse(event.data);
    const ahead = now.queue_position ? `, ${told.dataset.ahead.replace("{count}", now.queue_position)}` : "";
    told.textContent = (told.dataset[now.phase] || told.dataset.other) + ahead;
    $("progress", run).value = now.fraction;
    if (now.phase !== phase) say(told.textContent);
    phase = now.phase;
  });
  stream.addEventListener("delta", (event) => {
    words.hidden = false;
    words.append(JSON.parse(event.data).text);
  });
  const end = async () => {
    stream.close();
    clearInterval(tick);
    await settle(run);
  };
  stream.addEventListener("done", end);
  stream.onerror = () => stream.readyState === EventSource.CLOSED && end();
}

async function settle(run) {
  let html;
  try {
    html = await get(`/jobs/${run.dataset.run}`);
  } catch (error) {
    return trouble(error.type, error.text);
  }
  const box = document.createElement("template");
  box.innerHTML = html;
  const made = box.content.firstElementChild;
  run.replaceWith(made);
  htmx.process(made);
  welcome(made);
  if (made.dataset.say) say(made.dataset.say);
  if (made.matches(".diagnosis")) made.scrollIntoView({ block: "nearest" });
  if (made.dataset.turn && !passage) {
    const first = $(".cited .jump", made);
    if (first && innerWidth >= 768) jump(first, false);
  }
}

function welcome(element) {
  for (const run of [element, ...$$("[data-events]", element)]) if (run.dataset?.events) follow(run);
  if (element.matches?.(".diagnosing")) element.scrollIntoView({ block: "nearest" });
}

function chosenTwo() {
  const chosen = $$("input[name=q]:checked");
  $("#comparing").classList.toggle("two", chosen.length === 2);
  for (const box of $$("input[name=q]")) box.disabled = chosen.length === 2 && !box.checked;
}

// --- "this is wrong": the next click on a clause says where the answer stands

function wait(form) {
  picking = form;
  document.body.classList.toggle("picks", Boolean(form));
  if ($("#picking")) $("#picking").hidden = !form;
  if (!form) aim(null);
}

function aim(element) {
  for (const other of $$(".aim")) other.classList.remove("aim");
  if (!element) return;
  const clause = element.dataset.clause;
  const same = element.closest("#text") ? $$(`#text [data-clause="${clause}"]`) : [element];
  for (const one of same) one.classList.add("aim");
}

function pick(clause) {
  const form = picking;
  $("[name=clause]", form).value = clause;
  htmx.trigger(form, "submit");
  $("[name=clause]", form).value = "";
  form.closest("details").open = false;
  if (innerWidth < 768) panel("ask");
}

// --- uploads

function upload(file) {
  const form = $("#upload");
  const told = $(".sending p", form);
  const bar = $("progress", form);
  const request = new XMLHttpRequest();
  const body = new FormData();
  body.append("file", file);
  form.classList.add("busy");
  $(".sending", form).hidden = false;
  told.textContent = form.dataset.sending;
  request.upload.onprogress = (event) => {
    bar.value = event.loaded / event.total;
    told.textContent = `${form.dataset.sending} ${Math.round((100 * event.loaded) / event.total)} %`;
  };
  request.upload.onload = () => {
    bar.removeAttribute("value");
    told.textContent = `${form.dataset.reading} …`;
  };
  const failed = () => {
    form.classList.remove("busy");
    $(".sending", form).hidden = true;
    form.reset();
    trouble(request.getResponseHeader("Content-Type"), request.responseText);
  };
  request.onload = () => (request.status === 201 ? location.assign(request.getResponseHeader("Location")) : failed());
  request.onerror = failed;
  request.open("POST", form.action);
  request.setRequestHeader("HX-Request", "true");
  request.setRequestHeader("X-CSRF-Token", $("meta[name=csrf-token]").content);
  request.send(body);
}

function drops(form) {
  const over = (event, on) => {
    event.preventDefault();
    form.classList.toggle("over", on);
  };
  addEventListener("dragover", (event) => over(event, true));
  addEventListener("dragleave", (event) => over(event, false));
  addEventListener("drop", (event) => {
    over(event, false);
    if (event.dataTransfer.files.length) upload(event.dataTransfer.files[0]);
  });
  $("#file").addEventListener("change", (event) => event.target.files.length && upload(event.target.files[0]));
}

// --- clicks and keys

const deeds = {
  "close-note": () => note(""),
  "close-pick": () => (picking.closest("details").open = false),
  example: (button) => {
    $("#question").value = button.textContent;
    $("#question").focus();
  },
  again: (button) => {
    $("#question").value = button.closest("[data-question]").dataset.question;
    $("#question").focus();
  },
};

function theme(link) {
  const order = ["auto", "light", "dark"];
  const next = order[(order.indexOf(root.dataset.theme) + 1) % order.length];
  root.dataset.theme = next;
  link.title = `${link.dataset.label}: ${link.dataset[next]}`;
  link.setAttribute("aria-label", link.title);
  document.cookie = `softlookup_theme=${next}; max-age=31536000; path=/; samesite=strict`;
}

document.addEventListener("click", (event) => {
  const target = event.target;
  const plain = !event.ctrlKey && !event.metaKey && !event.shiftKey;
  const deed = target.closest("[data-do]");
  if (deed) return deeds[deed.dataset.do](deed);
  if (!plain) return;
  const stop = (act) => (event.preventDefault(), act());
  if (target.closest("#theme")) return stop(() => theme(target.closest("#theme")));
  if (!panes) return;
  const item = target.closest("#tree [role=treeitem]");
  if (target.closest(".twist")) return expand(item, item.getAttribute("aria-expanded") !== "true");
  const clause = target.closest("#text [data-clause]");
  if (picking && clause) return stop(() => pick(clause.dataset.clause));
  if (item && target.closest(".line")) return stop(() => (focusItem(item), choose(item)));
  const link = target.closest("a");
  if (!link) return;
  const reference = /[#?](?:cl-|clause=)(\d+)$/.exec(link.getAttribute("href") || link.getAttribute("xlink:href") || "");
  if (link.matches(".jump")) stop(() => jump(link));
  else if (link.matches(".panels a")) stop(() => panel(link.dataset.panel));
  else if (reference) stop(() => goToClause(Number(reference[1])));
});

document.addEventListener("mouseover", (event) => picking && aim(event.target.closest("#text [data-clause], #tree [role=treeitem]")));

document.addEventListener("keydown", (event) => {
  const typing = event.target.closest("textarea, input, select");
  aimed = null;
  if (event.key === "Escape") return escape();
  if (event.target.id === "question" && event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    if (event.target.value.trim()) $("#asking").requestSubmit();
  }
  if (tree && event.target.closest("#tree [role=treeitem]")) treeKey(event);
  if (typing || event.ctrlKey || event.metaKey || event.altKey || !panes) return;
  if (event.key === "/") {
    event.preventDefault();
    if (innerWidth < 768) panel("ask");
    $("#question").focus();
  }
  if (event.key === "j" || event.key === "k") {
    const links = $$(".jump", (passage && passage.closest(".answer")) || $("#answers"));
    const at = passage ? links.indexOf($(".jump", passage)) : -1;
    const next = links[event.key === "j" ? at + 1 : at - 1];
    if (next) jump(next);
  }
});

function escape() {
  const stop = $(".run .stop");
  if ($(".note")) note("");
  else if (picking) picking.closest("details").open = false;
  else if (stop) stop.click();
  else document.activeElement.blur();
}

document.addEventListener("submit", (event) => {
  const ask = event.target.dataset.confirm;
  if (ask && !confirm(ask)) event.preventDefault();
});

document.addEventListener("change", (event) => event.target.name === "q" && chosenTwo());

document.addEventListener(
  "toggle",
  (event) => {
    if (!event.target.matches(".wrong")) return;
    const form = $("form", event.target);
    if (event.target.open) {
      for (const other of $$(".wrong[open]")) if (other !== event.target) other.open = false;
      wait(form);
    } else if (picking === form) wait(null);
  },
  true,
);

document.addEventListener("htmx:afterRequest", (event) => {
  if (event.detail.elt.id === "asking" && event.detail.successful) {
    note("");
    $("#asking").reset();
    passage = null;
    $("#ask").scrollTop = 0;
  }
  if (event.detail.elt.matches(".wrong form") && event.detail.successful) event.detail.elt.closest("details").open = false;
});
document.addEventListener("htmx:beforeSwap", (event) => {
  const { xhr } = event.detail;
  if (xhr.status < 400 || (xhr.getResponseHeader("Content-Type") || "").startsWith("text/html")) return;
  event.detail.shouldSwap = false;
  trouble("", xhr.responseText);
});
document.addEventListener("htmx:sendError", () => trouble("", ""));
document.addEventListener("htmx:load", (event) => welcome(event.detail.elt));

if ($("#upload")) drops($("#upload"));
if (panes) {
  for (const name of ["wheel", "touchmove", "mousedown"]) $("#text").addEventListener(name, () => (aimed = null), { passive: true });
  prepare();
  panel(panes.dataset.panel);
  const first = tree && $("[role=treeitem]", tree);
  if (first) first.tabIndex = 0;
  for (const run of $$("[data-events]")) follow(run);
}
