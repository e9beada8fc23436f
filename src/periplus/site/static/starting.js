// Reloads the page until there is an index, unless the reader is typing a query.
const box = document.getElementById("q"), query = box.value;
setInterval(() => { if (box.value === query && (query || document.activeElement !== box)) location.reload(); }, 3000);
