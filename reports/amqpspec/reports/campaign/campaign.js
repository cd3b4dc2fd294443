"use strict";
/* Copy buttons, and folded cells that open if the address points into them. Nothing else needs a script. */

function reveal() {
  const wanted = location.hash.slice(1);
  const node = wanted && document.getElementById(decodeURIComponent(wanted));
  if (!node) return;
  const fold = node.closest("details");
  if (fold && !fold.open) {
    fold.open = true;
    node.scrollIntoView();
  }
}

async function copy(button) {
  const text = button.parentElement.querySelector("pre").textContent;
  let done = false;
  try {
    await navigator.clipboard.writeText(text);
    done = true;
  } catch {
    const range = document.createRange();
    range.selectNodeContents(button.parentElement.querySelector("pre"));
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    done = document.execCommand("copy");
  }
  button.textContent = done ? "copied" : "selected";
  setTimeout(() => { button.textContent = "copy"; }, 2000);
}

for (const button of document.querySelectorAll(".copy")) {
  button.hidden = false;
  button.addEventListener("click", () => copy(button));
}
addEventListener("hashchange", reveal);
reveal();
document.documentElement.dataset.ready = "true";
