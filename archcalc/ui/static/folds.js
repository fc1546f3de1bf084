// On a wide page model and settings stand open; on a narrow one they unfold when they are wanted.
// @ts-check

export function followFolds() {
  const wide = matchMedia("(min-width: 60em)");
  const follow = () => {
    for (const part of document.querySelectorAll("details.unfolds")) /** @type {HTMLDetailsElement} */ (part).open = wide.matches;
  };
  wide.addEventListener("change", follow);
  follow();
}
