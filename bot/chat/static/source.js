document.getElementById("cited")?.scrollIntoView({ block: "center" });
