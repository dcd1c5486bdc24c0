"""The client for Python."""
import os
from tessera_client import Client

with Client(os.environ["TESSERA_URL"], api_key=os.environ["TESSERA_KEY"]) as db:
    assert db.sql("SELECT title FROM trips WHERE year < $1", 1900).one()["title"] == "Lighthouse"
    assert db.search("trips", "when does the boat leave", limit=1)[0]["title"] == "Ferry"
    chat = db.begin_chat(["trips"])
    assert "opens at six" in db.chat("When does the bakery open?", chat)["content"]
