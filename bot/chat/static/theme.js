// Runs before the page is drawn, so that a chosen theme never flashes. Without a choice the system decides.
const chosen = localStorage.getItem("attest-theme");
if (chosen) document.documentElement.dataset.theme = chosen;

function isDark() {
  const set = document.documentElement.dataset.theme;
  return set ? set === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

document.addEventListener("DOMContentLoaded", () => {
  const button = document.getElementById("theme");
  if (!button) return;
  const show = () => {
    const { light, dark, toLight, toDark } = button.dataset;
    button.textContent = isDark() ? (light ?? "Light") : (dark ?? "Dark");
    button.setAttribute("aria-label", isDark() ? (toLight ?? "Switch to the light theme") : (toDark ?? "Switch to the dark theme"));
  };
  button.hidden = false;
  show();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", show);
  button.addEventListener("click", () => {
    const next = isDark() ? "light" : "dark";
    document.documentElement.dataset.theme = next;
    localStorage.setItem("attest-theme", next);
    show();
  });
});

// On paper all that is folded stands open. Where style sheets cannot open it, this does, and folds it again afterwards.
let unfolded = [];
addEventListener("beforeprint", () => {
  unfolded = [...document.querySelectorAll("details:not([open])")];
  for (const each of unfolded) each.open = true;
});
addEventListener("afterprint", () => {
  for (const each of unfolded) each.open = false;
  unfolded = [];
});
