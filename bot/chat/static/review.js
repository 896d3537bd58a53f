import { linkMap } from "./link.js";

for (const map of document.querySelectorAll("[data-map]")) linkMap(map);
