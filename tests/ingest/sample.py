"""Lines labelled by hand: what a memory must not take in, and what it must."""

JUNK = """\
ok thanks a lot!
sounds good to me
Okay, great, thanks!
lol that is so good haha
hahahahahahahaha
Thanks so much, Joanna!
Hello there, good morning!
Yes, absolutely, sure thing!
............................
!!! ??? !!! ??? !!!
👍👍👍👍👍👍👍👍👍👍👍👍
🎉 🎉 🎉 🎉 🎉 🎉 🎉
yesssssss cooool niiice
No worries, no problem!
Oh wow, awesome, perfect!
Let me know if you have any questions.
Let me know if you need anything else!
Please let me know how it goes.
Feel free to ask if you need more help.
Here is the result you asked for.
Here are the details you requested:
I will get back to you soon.
I'll get back to you on that later.
I will look into it and let you know.
Sure! I can help you with that.
How can I help you today?
Is there anything else I can help you with?
I hope this helps! Let me know what you think.
Hope you have a great day!
Thank you for your patience and understanding.
Thanks for the quick reply, I appreciate it.
Sorry for the delay and the inconvenience.
I apologize for the confusion.
As an AI language model, I cannot help with that request.
That is a great question! Let me think about it.
Just a moment please, I am working on it now.
Hold on, let me check that for you.
Good night, see you later!
How are you doing today? What's up?
What do you think about that?
Does that make sense to you?
It is what it is, I guess
I think so too, really
We will see what happens then
something something whatever
Well, you know what I mean
That is not what I said though
So what should we do with this one?
asdf asdf asdf asdf
asdfghjkl qwertyuiop
sdkfjhsd kjhgsdfk
aaaaaaaaaaaaaaaaaaaaaa
abababababababab
buy now buy now buy now buy now
test test test test
This is a test message
This is just a test, please ignore
testing testing 1 2 3
Lorem ipsum dolor sit amet, consectetur adipiscing elit.
Insert your text here
hello world hello world
foo bar baz foo bar
blah blah blah blah
TODO TBD TBA untitled
123456789012345
42 1337 2026 99 100
https://example.com/a/b/c?d=1
www.example.org https://example.net/x
--- === --- === ---
1. 2. 3. 4. 5. 6. 7.
Sounds great! Thanks! See you soon!
Okay, got it. Will do. Thank you very much!
Yeah, I agree. Good point.
Bye Caroline, take care of yourself!
Looking forward to hearing from you soon.
danke danke, merci!
""".splitlines()

GOOD = """\
API key rotates monthly
Port 5432 is Postgres
Server is down.
I'm vegetarian.
She is pregnant.
Use tabs, not spaces
Deploy on Fridays only
Call me Ishmael
He lives in Berlin now
Matt's birthday is May 3
Allergic to peanuts
The wifi password is hunter2
Prefers dark mode
It's Shia Labeouf!
They were awestruck and humbled.
I whipped up some chocolate and vanilla swirl.
Yes, the staging cluster was migrated to Postgres 16 yesterday.
Thanks! The invoice number is 2026-0042.
Ok, so we agreed on Tuesday at 10 for the release.
Let me know if the build breaks on Windows.
Let me know when Alice arrives in Lisbon.
Follow up on the support request from Siemens
Need to look into the delay of the nightly export
Sorry, I moved to Hamburg last year.
The data type is a string.
An empty string is null in Oracle.
The test message queue is called orders-dev.
Testing the parser needs Python 3.12
Replace the lorem ipsum on the landing page before launch.
Hello World is the name of our newsletter
The foo service listens on 8081
TODO: rotate the TLS certificates before June
https://example.com/runbook explains how to fail over the database
Bora Bora is the honeymoon destination
New York, New York is her favourite song
grep -rn TODO src/ | wc -l
def add(a, b): return a + b
kubectl get pods -n prod
SELECT count(*) FROM users WHERE active
git push --force-with-lease origin main
TypeError: 'NoneType' object is not iterable
CVE-2024-3094 affects xz 5.6.0
x = 3.14159265
matt@example.com
192.168.1.10 is the printer
+49 170 1234567 is Anna's mobile number
Meeting moved to 14:30
42 is the answer to everything
Never deploy without a backup
What is the capital of Australia? It is Canberra.
Why did the import fail? The file was UTF-16.
How do I reset the router? Hold the button for ten seconds.
Decision: we use SQLite as the default store.
Lesson learnt: the cache must be cleared after a rename.
User feedback: the search page feels slow on phones.
我住在柏林，在一家软件公司工作。
数据库服务器的端口号是五千四百三十二
東京オフィスは来月引っ越します
회의는 목요일 오후 두 시입니다
Сервер базы данных находится в Москве
قاعدة البيانات تعمل على المنفذ
डेटाबेस सर्वर मुंबई में है
รหัสผ่านของเซิร์ฟเวอร์เปลี่ยนทุกเดือน
Je suis végétarien depuis dix ans
Der Server läuft auf Port 8080
Mi hermana vive en Sevilla
Caffè alle otto con Lucia
Hyvää päivää, asun Helsingissä
Ok I will be in Paris next week
Good restaurant: Trattoria da Enzo
The password was changed, thanks to Bob
Great Expectations is her favourite novel
No Country for Old Men
I love hiking
We have two cats
My dog is called Rex
The Wi-Fi in the office is terrible
Three times a week
Gluten-free pasta only, please
""".splitlines()
