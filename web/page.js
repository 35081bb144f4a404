// Shows the job's state, and looks for a newer one again and again. Everything is put in as text, never as HTML.
const INTERVAL_MS = 2000;
const LONGEST_INTERVAL_MS = 16000;
const MOST_ROWS = 1000;
const GOOD = new Set(["running", "succeeded"]);
const BAD = new Set(["failed", "lost", "killed"]);

const element = (id) => document.getElementById(id);

function made(tag, text, className = "") {
  const node = document.createElement(tag);
  node.textContent = text;
  if (className !== "") node.className = className;
  return node;
}

const tone = (state) => (GOOD.has(state) ? "good" : BAD.has(state) ? "bad" : "");
const words = (state) => state.replaceAll("_", " ");

function duration(seconds) {
  const s = Math.floor(seconds);
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min ${s % 60} s`;
  return `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`;
}

function bytes(count) {
  if (count === 0) return "";
  const mib = count / (1 << 20);
  return mib < 1024 ? `${mib.toFixed(0)} MiB` : `${(mib / 1024).toFixed(1)} GiB`;
}

function showText(id, text) {
  element(id).hidden = text === "";
  if (element(id).textContent !== text) element(id).textContent = text;
}

function showFacts(job) {
  const facts = [
    ["Submitted", job.submitted],
    ["Ended", job.ended],
    ["Time", duration(job.elapsed_ms / 1000)],
    ["Restarts", `${job.restarts_used} of ${job.restarts_max}`],
    ["Generation", String(job.generation)],
  ];
  element("facts").replaceChildren(...facts.filter(([, value]) => value !== "").map(([name, value]) => {
    const pair = document.createElement("div");
    pair.append(made("dt", name), made("dd", value));
    return pair;
  }));
}

function showBoards(boards) {
  element("boards").hidden = boards.length === 0;
  const shown = JSON.stringify(boards);
  if (element("boards").dataset.shown === shown) return;  // so that a selected line stays selected
  element("boards").dataset.shown = shown;
  element("board-list").replaceChildren(...boards.map((board) => {
    const item = document.createElement("li");
    if (board.url.startsWith("http://")) {
      const link = made("a", board.url);
      link.href = board.url;
      item.append(`${board.task} at `, link);
    } else {
      item.append(`${board.task}: on your machine, type `, made("code", board.command));
    }
    return item;
  }));
}

function row(task) {
  const line = document.createElement("tr");
  const name = made("th", task.task);
  name.scope = "row";
  line.append(name, made("td", words(task.state), tone(task.state)), made("td", task.host),
    made("td", String(task.restarts), "number"), made("td", bytes(task.memory_bytes), "number"),
    made("td", task.cpu_seconds > 0 ? duration(task.cpu_seconds) : "", "number"), made("td", task.exit));
  return line;
}

function showTasks(tasks) {
  const counts = new Map();
  for (const task of tasks) counts.set(task.state, (counts.get(task.state) ?? 0) + 1);
  element("counts").textContent = [...counts].map(([state, count]) => `${count} ${words(state)}`).join(", ");
  element("tasks").replaceChildren(...tasks.slice(0, MOST_ROWS).map(row));
  showText("more", tasks.length > MOST_ROWS ? `and ${tasks.length - MOST_ROWS} more tasks` : "");
}

function show(job) {
  document.title = `${job.name}: ${words(job.state)}`;
  showText("name", job.name);
  showText("id", job.id);
  showText("state", words(job.state));
  element("state").className = tone(job.state);
  showText("waiting", job.waiting_for === "" ? "" : `It waits: ${job.waiting_for}`);
  element("cause").hidden = job.cause === "";
  element("cause-sentence").textContent = job.cause;
  showFacts(job);
  showBoards(job.boards);
  showTasks(job.tasks);
}

let interval = INTERVAL_MS;

async function look() {
  try {
    const answer = await fetch("status.json", {cache: "no-store"});
    if (!answer.ok) throw new Error(`status ${answer.status}`);
    show(await answer.json());
    element("lost").hidden = true;
    interval = INTERVAL_MS;
  } catch (error) {
    // Not a page that is being left.
    console.warn(error);
    element("lost").hidden = false;
    interval = Math.min(interval * 2, LONGEST_INTERVAL_MS);
  }
  setTimeout(next, interval);
}

// A page that nobody sees asks nothing.
function next() {
  if (document.visibilityState === "visible") return look();
  document.addEventListener("visibilitychange", next, {once: true});
}

look();
