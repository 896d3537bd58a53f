// Looks at all turns of a search, page after page, and shows those that would be different. Without it each page leads to the next.

const found = document.getElementById("found");
const paging = document.querySelector(".paging");
const older = () => paging?.querySelector('a[rel="next"]');

const tally = { looked: Number(found?.dataset.looked), differing: Number(found?.dataset.differing) };
let stopped = true;

function told(rest) {
  const turns = tally.looked === 1 ? "turn" : "turns";
  found.replaceChildren(Object.assign(document.createElement("strong"), { textContent: tally.differing }));
  found.append(` of ${tally.looked} ${turns} looked at would be different${rest}`);
}

// The turns of a page that would be different go below those that are there; all others are counted.
function take(page) {
  const next = page.getElementById("found");
  tally.looked += Number(next.dataset.looked);
  tally.differing += Number(next.dataset.differing);
  for (const card of page.querySelectorAll('section[data-differs="yes"]')) paging.before(document.adoptNode(card));
  const further = page.querySelector('.paging a[rel="next"]');
  if (further) older().href = further.getAttribute("href");
  else older().remove();
}

async function goOn(button) {
  stopped = false;
  button.textContent = "Stop";
  while (!stopped && older()) {
    told(", going on …");
    try {
      const answer = await fetch(older().href, { credentials: "same-origin" });
      if (!answer.ok) throw new Error(String(answer.status));
      take(new DOMParser().parseFromString(await answer.text(), "text/html"));
    } catch {
      told("; the next could not be looked at, press again to go on");
      break;
    }
  }
  if (!older()) {
    told(", and there are no more");
    button.remove();
    found.focus();
    return;
  }
  if (stopped) told("");
  stopped = true;
  button.textContent = "Look at all of them";
}

if (found && older()) {
  const button = Object.assign(document.createElement("button"), { type: "button", textContent: "Look at all of them" });
  button.addEventListener("click", () => {
    if (stopped) goOn(button);
    else stopped = true;
  });
  paging.append(button);
}
