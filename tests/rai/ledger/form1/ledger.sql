BEGIN TRANSACTION;
CREATE TABLE about (
	name VARCHAR(32) NOT NULL, 
	value VARCHAR(64) NOT NULL, 
	PRIMARY KEY (name)
);
INSERT INTO "about" VALUES('schema','1');
INSERT INTO "about" VALUES('key_id','60d5133267e073f9');
CREATE TABLE entries (
	seq INTEGER NOT NULL, 
	entry_id VARCHAR(26) NOT NULL, 
	at VARCHAR(32) NOT NULL, 
	kind VARCHAR(64) NOT NULL, 
	body TEXT, 
	digest VARCHAR(64) NOT NULL, 
	prev VARCHAR(64) NOT NULL, 
	mac VARCHAR(64) NOT NULL, 
	PRIMARY KEY (seq), 
	UNIQUE (entry_id)
);
INSERT INTO "entries" VALUES(1,'01M89GTN9ZWV7QG6S54RBACHTB','2026-11-25T14:12:50.623Z','turn','{"ask":{"question":"Wann \u00f6ffnet Schalter 1?"},"reply":{"answer":"Um 1 Uhr","outcome":"answered"}}','b02d1f01b0f4aab46a9bb9600fd947d1cb5446ff2c0770d244eee71562db85e6','0000000000000000000000000000000000000000000000000000000000000000','2cb5de134dae021e255a538b16a1d04371eee8b73111e200baf0b5256a28851c');
INSERT INTO "entries" VALUES(2,'01M89GTNA3YDPR7K63Z80JZQG0','2026-11-25T14:12:50.627Z','turn','{"ask":{"question":"Wann \u00f6ffnet Schalter 2?"},"reply":{"answer":"Um 2 Uhr","outcome":"answered"}}','57fb52e35901e7364eb896e0a9e7e61809056a9935f8ba79d0a8fd4d2192b966','2cb5de134dae021e255a538b16a1d04371eee8b73111e200baf0b5256a28851c','5a3660f3b49dab4fb4e30972e6c7dca5bd2fcb6dacaf1cfc9a7b482d507c99ad');
INSERT INTO "entries" VALUES(3,'01M89GTNA6PM8V41XWX10A517S','2026-11-25T14:12:50.630Z','turn',NULL,'8fcf08915bb781afbc0aa7970ac18ae835d8e0613d8bb66695fabbca0ed943c0','5a3660f3b49dab4fb4e30972e6c7dca5bd2fcb6dacaf1cfc9a7b482d507c99ad','4baa3a7a699274eb8b5b6c5cecce67a96ba8ccac720516b8255a9be69e5d0f1a');
INSERT INTO "entries" VALUES(4,'01M89GTNA9QHP5ZWR5Y0QFDAGD','2026-11-25T14:12:50.633Z','turn','{"ask":{"question":"Wann \u00f6ffnet Schalter 4?"},"reply":{"answer":"Um 4 Uhr","outcome":"answered"}}','057957bbf697bcfcf84ef058eccf29ea1a74f1f508e8396a293eb4514da07b82','4baa3a7a699274eb8b5b6c5cecce67a96ba8ccac720516b8255a9be69e5d0f1a','8408ef268757d48e1d30bb94eb210e5be9178a53dbd8e2f5c44456c107a2fd0a');
INSERT INTO "entries" VALUES(5,'01M89GTNAB6TY815MZ66W893ED','2026-11-25T14:12:50.635Z','turn','{"ask":{"question":"Wann \u00f6ffnet Schalter 5?"},"reply":{"answer":"Um 5 Uhr","outcome":"answered"}}','cde21f632cb243c1f9603e03b2dc5b18d24584269a4151ac0ff0153396875f92','8408ef268757d48e1d30bb94eb210e5be9178a53dbd8e2f5c44456c107a2fd0a','99195d7dacc795d599a0744c0c9bcc8ed4332fa881609636d90c047b79a0c209');
INSERT INTO "entries" VALUES(6,'01M89GTNAEXD1JMWGJTCX7VETV','2026-11-25T14:12:50.638Z','turn','{"ask":{"question":"Wann \u00f6ffnet Schalter 6?"},"reply":{"answer":"Um 6 Uhr","outcome":"answered"}}','24807bd0743b141adb6f8d40c5462bb6ca5b692323458747c09428b3824b0af7','99195d7dacc795d599a0744c0c9bcc8ed4332fa881609636d90c047b79a0c209','98caff2de6b7d208c74a5db63ee77f8d7ef6b302dd90dc312cff7803fd8b8c31');
INSERT INTO "entries" VALUES(7,'01M89GTNAH3MH0ZW9GTG0KS8F0','2026-11-25T14:12:50.641Z','erase','{"entry_id":"01M89GTNA6PM8V41XWX10A517S","reason":"asked for","schema":2}','7fd66d44c6adf7eed592329a46dcc99619369c954b27071ebd55a8d436693a0f','98caff2de6b7d208c74a5db63ee77f8d7ef6b302dd90dc312cff7803fd8b8c31','17e03c35fdd4eb33cd5ffd5d63f9bdb501c4b5b35c23ad3a559f2a108b250d7b');
CREATE TRIGGER entries_no_update BEFORE UPDATE ON entries
        WHEN NOT (NEW.body IS NULL AND NEW.seq IS OLD.seq AND NEW.entry_id IS OLD.entry_id AND NEW.at IS OLD.at
            AND NEW.kind IS OLD.kind AND NEW.digest IS OLD.digest AND NEW.prev IS OLD.prev AND NEW.mac IS OLD.mac
            AND EXISTS (
            SELECT 1 FROM entries e WHERE e.kind = 'erase' AND e.seq > OLD.seq
            AND json_extract(e.body, '$.entry_id') = OLD.entry_id))
        BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER entries_no_delete BEFORE DELETE ON entries
        BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
COMMIT;
