// On a wide page model and settings stand open; on a narrow one they unfold when they are wanted.
// @ts-check

/** @param {() => void} changed  some part was opened or closed */
export function followFolds(changed) {
  const wide = matchMedia("(min-width: 60em)");
  const follow = () => {
    for (const part of document.querySelectorAll("details.unfolds")) /** @type {HTMLDetailsElement} */ (part).open = wide.matches;
  };
  for (const part of document.querySelectorAll("details")) part.addEventListener("toggle", changed);
  wide.addEventListener("change", follow);
  follow();
}
